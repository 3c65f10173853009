// Collective operations: section 4.4.4.
#include "libraries/zipcode/class_call.hpp"
#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

int combine_at(const char* name, ZIP_MAILER* mailer, int mail_class, void* buffer, Method* method, int size, int items,
               const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) { return do_combine(session, name, open, buffer, method, size, items); },
      caller);
}

// `find` returns the rank of the origin.
template <typename Find>
int fanout_of(const char* name, ZIP_MAILER* mailer, int mail_class, void** data, int* length, Find find,
              const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        return do_fanout(session, name, open, data, length, nullptr, find(session, open));
      },
      caller);
}

template <typename Find>
int exec_of(const char* name, ZIP_MAILER* mailer, int mail_class, void** data, int* length, Method* method, Find find,
            const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        if (const std::string error = kind_error(method, ZIP_METHOD_EXECUTE, "execute"); !error.empty()) fail(error);
        return do_fanout(session, name, open, data, length, method, find(session, open));
      },
      caller);
}

template <typename Find>
int fanin_of(const char* name, ZIP_MAILER* mailer, int mail_class, Find find, void* buffer, Method* method, int size,
             int items, const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        return do_fanin(session, name, open, find(session, open), buffer, method, size, items);
      },
      caller);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int zip_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("zip_combine", mailer, kAnyClass, buffer, comb_method, size, items);
}
int z_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("z_combine", mailer, ZIP_Z, buffer, comb_method, size, items);
}
int l_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("l_combine", mailer, ZIP_L, buffer, comb_method, size, items);
}
int g1_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g1_combine", mailer, ZIP_G1, buffer, comb_method, size, items);
}
int g2_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g2_combine", mailer, ZIP_G2, buffer, comb_method, size, items);
}
int g3_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g3_combine", mailer, ZIP_G3, buffer, comb_method, size, items);
}

int zip_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig) {
  return fanout_of("zip_fanout", mailer, kAnyClass, data, length, by_rank(orig));
}
int z_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig) {
  return fanout_of("z_fanout", mailer, ZIP_Z, data, length, by_rank(orig));
}
int l_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_node, int orig_pid) {
  return fanout_of("l_fanout", mailer, ZIP_L, data, length, by_process(orig_node, orig_pid));
}
int g1_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p) {
  return fanout_of("g1_fanout", mailer, ZIP_G1, data, length, by_place(orig_p));
}
int g2_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q) {
  return fanout_of("g2_fanout", mailer, ZIP_G2, data, length, by_place(orig_p, orig_q));
}
int g3_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q, int orig_r) {
  return fanout_of("g3_fanout", mailer, ZIP_G3, data, length, by_place(orig_p, orig_q, orig_r));
}

int zip_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig) {
  return exec_of("zip_fanout_exec", mailer, kAnyClass, data, length, method, by_rank(orig));
}
int z_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig) {
  return exec_of("z_fanout_exec", mailer, ZIP_Z, data, length, method, by_rank(orig));
}
int l_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_node, int orig_pid) {
  return exec_of("l_fanout_exec", mailer, ZIP_L, data, length, method, by_process(orig_node, orig_pid));
}
int g1_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p) {
  return exec_of("g1_fanout_exec", mailer, ZIP_G1, data, length, method, by_place(orig_p));
}
int g2_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q) {
  return exec_of("g2_fanout_exec", mailer, ZIP_G2, data, length, method, by_place(orig_p, orig_q));
}
int g3_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q, int orig_r) {
  return exec_of("g3_fanout_exec", mailer, ZIP_G3, data, length, method, by_place(orig_p, orig_q, orig_r));
}

int zip_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("zip_fanin", mailer, kAnyClass, by_rank(dest), buffer, comb_method, size, items);
}
int z_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("z_fanin", mailer, ZIP_Z, by_rank(dest), buffer, comb_method, size, items);
}
int l_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("l_fanin", mailer, ZIP_L, by_process(dest_node, dest_pid), buffer, comb_method, size, items);
}
int g1_fanin(ZIP_MAILER* mailer, int dest_p, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("g1_fanin", mailer, ZIP_G1, by_place(dest_p), buffer, comb_method, size, items);
}
int g2_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("g2_fanin", mailer, ZIP_G2, by_place(dest_p, dest_q), buffer, comb_method, size, items);
}
int g3_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, void* buffer, Method* comb_method, int size,
             int items) {
  return fanin_of("g3_fanin", mailer, ZIP_G3, by_place(dest_p, dest_q, dest_r), buffer, comb_method, size, items);
}

int zip_prefix(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return call("zip_prefix", -1, [&](Session& session) {
    return do_prefix(session, "zip_prefix", session.open_mailer(mailer), buffer, comb_method, size, items);
  });
}
int zip_sync(ZIP_MAILER* mailer) {
  return call("zip_sync", -1,
              [&](Session& session) { return do_sync(session, "zip_sync", session.open_mailer(mailer)); });
}
