// Sends and receives: section 4.4.3.
#include "libraries/zipcode/class_call.hpp"

namespace margay::zipcode::core {

namespace {

// `find` returns the rank of the destination.
template <typename Find>
void send_to_rank(const char* name, ZIP_MAILER* mailer, int mail_class, char* letter, Find find,
                  const void* caller = __builtin_return_address(0)) {
  class_call(
      name, 0, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        do_send(session, open, letter, find(session, open));
        return 0;
      },
      caller);
}

// The same for classes without ranks: `find` returns the destination.
template <typename Find>
void send_to(const char* name, ZIP_MAILER* mailer, int mail_class, char* letter, Find find,
             const void* caller = __builtin_return_address(0)) {
  class_call(
      name, 0, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        const Destination to = find(session, open);
        send(session, open, session.take_back(&open, letter), to);
        return 0;
      },
      caller);
}

template <typename Receive>
char* receive_by(const char* name, ZIP_MAILER* mailer, int mail_class, Receive receive,
                 const void* caller = __builtin_return_address(0)) {
  return class_call<char*>(
      name, nullptr, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) { return receive(session, name, open); }, caller);
}

auto named_letter(const int* name, bool is_blocked) {
  return selected_letter(
      [name](Session& session, const ZIP_MAILER& mailer, Selection& out) { from_name(session, mailer, name, out); },
      is_blocked);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

void y_send(ZIP_MAILER* mailer, char* letter, int node, int pid, int tag) {
  send_to("y_send", mailer, ZIP_Y, letter, destination_by_tag(node, pid, tag));
}
void l_send(ZIP_MAILER* mailer, char* letter, int node, int pid, long tag) {
  send_to("l_send", mailer, ZIP_L, letter, destination_by_process(node, pid, tag));
}
void zip_send(ZIP_MAILER* mailer, char* letter, const int* name) {
  send_to("zip_send", mailer, kAnyClass, letter,
          [name](Session& session, const ZIP_MAILER& open) { return to_name(session, open, name); });
}
void z_send(ZIP_MAILER* mailer, char* letter, int rank) {
  send_to_rank("z_send", mailer, ZIP_Z, letter, by_rank(rank));
}
void g1_send(ZIP_MAILER* mailer, char* letter, int p) {
  send_to_rank("g1_send", mailer, ZIP_G1, letter, by_place(p));
}
void g2_send(ZIP_MAILER* mailer, char* letter, int p, int q) {
  send_to_rank("g2_send", mailer, ZIP_G2, letter, by_place(p, q));
}
void g3_send(ZIP_MAILER* mailer, char* letter, int p, int q, int r) {
  send_to_rank("g3_send", mailer, ZIP_G3, letter, by_place(p, q, r));
}

char* y_recv(ZIP_MAILER* mailer, int tag) {
  return receive_by("y_recv", mailer, ZIP_Y, tagged_letter(tag, false));
}
char* y_recvb(ZIP_MAILER* mailer, int tag) {
  return receive_by("y_recvb", mailer, ZIP_Y, tagged_letter(tag, true));
}
char* l_recv(ZIP_MAILER* mailer, int node, int pid, long tag) {
  return receive_by("l_recv", mailer, ZIP_L, letter_from_process(node, pid, tag, false));
}
char* l_recvb(ZIP_MAILER* mailer, int node, int pid, long tag) {
  return receive_by("l_recvb", mailer, ZIP_L, letter_from_process(node, pid, tag, true));
}
char* zip_recv(ZIP_MAILER* mailer, const int* name) {
  return receive_by("zip_recv", mailer, kAnyClass, named_letter(name, false));
}
char* zip_recvb(ZIP_MAILER* mailer, const int* name) {
  return receive_by("zip_recvb", mailer, kAnyClass, named_letter(name, true));
}
char* z_recv(ZIP_MAILER* mailer, int rank) {
  return receive_by("z_recv", mailer, ZIP_Z, letter_from(by_rank(rank), false));
}
char* z_recvb(ZIP_MAILER* mailer, int rank) {
  return receive_by("z_recvb", mailer, ZIP_Z, letter_from(by_rank(rank), true));
}
char* g1_recv(ZIP_MAILER* mailer, int p) {
  return receive_by("g1_recv", mailer, ZIP_G1, letter_from(by_place(p), false));
}
char* g1_recvb(ZIP_MAILER* mailer, int p) {
  return receive_by("g1_recvb", mailer, ZIP_G1, letter_from(by_place(p), true));
}
char* g2_recv(ZIP_MAILER* mailer, int p, int q) {
  return receive_by("g2_recv", mailer, ZIP_G2, letter_from(by_place(p, q), false));
}
char* g2_recvb(ZIP_MAILER* mailer, int p, int q) {
  return receive_by("g2_recvb", mailer, ZIP_G2, letter_from(by_place(p, q), true));
}
char* g3_recv(ZIP_MAILER* mailer, int p, int q, int r) {
  return receive_by("g3_recv", mailer, ZIP_G3, letter_from(by_place(p, q, r), false));
}
char* g3_recvb(ZIP_MAILER* mailer, int p, int q, int r) {
  return receive_by("g3_recvb", mailer, ZIP_G3, letter_from(by_place(p, q, r), true));
}

int l_sender(ZIP_MAILER* mailer, char* letter, int* node, int* pid, long* tag) {
  return call_int("l_sender", [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer, ZIP_L);
    const Letter& found = session.find_letter(&open, letter);
    if (found.source == margay::portals::kAnyRank) fail("the letter was made here, and not received");
    const int at = index_of(open.group, found.source);
    if (at < 0) fail("the letter's sender is not in the group");
    std::int32_t value = 0;
    std::memcpy(&value, found.envelope + kBoxAt + 2 * sizeof value, sizeof value);
    if (node != nullptr) *node = session.nodes().node_of(found.source);
    if (pid != nullptr) *pid = open.group[static_cast<std::size_t>(at)].pid;
    if (tag != nullptr) *tag = value;
  });
}

int zip_register_class(const Zip_mail_class* mail_class) {
  const char* const kCall = "zip_register_class";
  try {
    if (mail_class == nullptr) fail("the class is NULL");
    return add_class(*mail_class);
  } catch (const Error& error) {
    report(std::string(kCall) + ": " + error.what());
  }
  return -1;
}
