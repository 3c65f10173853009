// Sends and receives: section 4.4.3.
#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/operations.hpp"

namespace margay::zipcode::core {

namespace {

// A send to the rank that `find` returns, for the classes with ranks or coordinates.
template <typename Find>
void send_by(const char* name, ZIP_MAILER* mailer, int mail_class, char* letter, Find find, const void* caller) {
  call_void(
      name,
      [&](Session& session) {
        ZIP_MAILER& open = session.open_mailer(mailer, mail_class);
        do_send(session, open, letter, find(open));
      },
      caller);
}

template <typename Find>
char* receive_by(const char* name, ZIP_MAILER* mailer, int mail_class, bool is_blocked, Find find, const void* caller) {
  return call<char*>(
      name, nullptr,
      [&](Session& session) {
        ZIP_MAILER& open = session.open_mailer(mailer, mail_class);
        return do_receive(session, name, open, find(open), is_blocked);
      },
      caller);
}

// The same for selections of other kinds, which `select` writes.
template <typename Select>
char* receive_selected(const char* name, ZIP_MAILER* mailer, int mail_class, bool is_blocked, Select select,
                       const void* caller) {
  return call<char*>(
      name, nullptr,
      [&](Session& session) {
        ZIP_MAILER& open = mail_class == 0 ? session.open_mailer(mailer) : session.open_mailer(mailer, mail_class);
        Selection selection;
        select(session, open, selection);
        return receive(session, name, open, selection, is_blocked);
      },
      caller);
}

auto by_rank(int rank) {
  return [rank](const ZIP_MAILER&) { return rank; };
}
auto by_place(int p, int q = 0, int r = 0) {
  return [=](const ZIP_MAILER& mailer) { return rank_at(mailer, p, q, r); };
}
auto by_tag(int tag) {
  return [tag](Session&, const ZIP_MAILER& mailer, Selection& out) { from_tag(mailer, tag, out); };
}
auto by_process(int node, int pid, long tag) {
  return [=](Session& session, const ZIP_MAILER& mailer, Selection& out) {
    from_process(session, mailer, node, pid, tag, out);
  };
}
auto by_name(const int* name) {
  return [name](Session& session, const ZIP_MAILER& mailer, Selection& out) { from_name(session, mailer, name, out); };
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

void y_send(ZIP_MAILER* mailer, char* letter, int node, int pid, int tag) {
  call_void("y_send", [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer, ZIP_Y);
    const Destination to = to_tag(session, open, node, pid, tag);
    send(session, open, session.take_back(&open, letter), to);
  });
}
void l_send(ZIP_MAILER* mailer, char* letter, int node, int pid, long tag) {
  call_void("l_send", [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer, ZIP_L);
    const Destination to = to_process(session, open, node, pid, tag);
    send(session, open, session.take_back(&open, letter), to);
  });
}
void zip_send(ZIP_MAILER* mailer, char* letter, const int* name) {
  call_void("zip_send", [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer);
    const Destination to = to_name(session, open, name);
    send(session, open, session.take_back(&open, letter), to);
  });
}
void z_send(ZIP_MAILER* mailer, char* letter, int rank) {
  send_by("z_send", mailer, ZIP_Z, letter, by_rank(rank), __builtin_return_address(0));
}
void g1_send(ZIP_MAILER* mailer, char* letter, int p) {
  send_by("g1_send", mailer, ZIP_G1, letter, by_place(p), __builtin_return_address(0));
}
void g2_send(ZIP_MAILER* mailer, char* letter, int p, int q) {
  send_by("g2_send", mailer, ZIP_G2, letter, by_place(p, q), __builtin_return_address(0));
}
void g3_send(ZIP_MAILER* mailer, char* letter, int p, int q, int r) {
  send_by("g3_send", mailer, ZIP_G3, letter, by_place(p, q, r), __builtin_return_address(0));
}

char* y_recv(ZIP_MAILER* mailer, int tag) {
  return receive_selected("y_recv", mailer, ZIP_Y, false, by_tag(tag), __builtin_return_address(0));
}
char* y_recvb(ZIP_MAILER* mailer, int tag) {
  return receive_selected("y_recvb", mailer, ZIP_Y, true, by_tag(tag), __builtin_return_address(0));
}
char* l_recv(ZIP_MAILER* mailer, int node, int pid, long tag) {
  return receive_selected("l_recv", mailer, ZIP_L, false, by_process(node, pid, tag), __builtin_return_address(0));
}
char* l_recvb(ZIP_MAILER* mailer, int node, int pid, long tag) {
  return receive_selected("l_recvb", mailer, ZIP_L, true, by_process(node, pid, tag), __builtin_return_address(0));
}
char* zip_recv(ZIP_MAILER* mailer, const int* name) {
  return receive_selected("zip_recv", mailer, 0, false, by_name(name), __builtin_return_address(0));
}
char* zip_recvb(ZIP_MAILER* mailer, const int* name) {
  return receive_selected("zip_recvb", mailer, 0, true, by_name(name), __builtin_return_address(0));
}
char* z_recv(ZIP_MAILER* mailer, int rank) {
  return receive_by("z_recv", mailer, ZIP_Z, false, by_rank(rank), __builtin_return_address(0));
}
char* z_recvb(ZIP_MAILER* mailer, int rank) {
  return receive_by("z_recvb", mailer, ZIP_Z, true, by_rank(rank), __builtin_return_address(0));
}
char* g1_recv(ZIP_MAILER* mailer, int p) {
  return receive_by("g1_recv", mailer, ZIP_G1, false, by_place(p), __builtin_return_address(0));
}
char* g1_recvb(ZIP_MAILER* mailer, int p) {
  return receive_by("g1_recvb", mailer, ZIP_G1, true, by_place(p), __builtin_return_address(0));
}
char* g2_recv(ZIP_MAILER* mailer, int p, int q) {
  return receive_by("g2_recv", mailer, ZIP_G2, false, by_place(p, q), __builtin_return_address(0));
}
char* g2_recvb(ZIP_MAILER* mailer, int p, int q) {
  return receive_by("g2_recvb", mailer, ZIP_G2, true, by_place(p, q), __builtin_return_address(0));
}
char* g3_recv(ZIP_MAILER* mailer, int p, int q, int r) {
  return receive_by("g3_recv", mailer, ZIP_G3, false, by_place(p, q, r), __builtin_return_address(0));
}
char* g3_recvb(ZIP_MAILER* mailer, int p, int q, int r) {
  return receive_by("g3_recvb", mailer, ZIP_G3, true, by_place(p, q, r), __builtin_return_address(0));
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
