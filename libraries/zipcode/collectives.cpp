// Collective operations: section 4.4.4.
#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/methods.hpp"
#include "libraries/zipcode/operations.hpp"

namespace margay::zipcode::core {

namespace {

// The mailer of a call for one class, or with 0 for any.
ZIP_MAILER& mailer_of(const Session& session, ZIP_MAILER* mailer, int mail_class) {
  return mail_class == 0 ? session.open_mailer(mailer) : session.open_mailer(mailer, mail_class);
}

int combine_at(const char* name, ZIP_MAILER* mailer, int mail_class, void* buffer, Method* method, int size, int items,
               const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        return do_combine(session, name, mailer_of(session, mailer, mail_class), buffer, method, size, items);
      },
      caller);
}

// `find` returns the rank of the origin.
template <typename Find>
int fanout_of(const char* name, ZIP_MAILER* mailer, int mail_class, void** data, int* length, Find find,
              const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        ZIP_MAILER& open = mailer_of(session, mailer, mail_class);
        return do_fanout(session, name, open, data, length, nullptr, find(session, open));
      },
      caller);
}

template <typename Find>
int exec_of(const char* name, ZIP_MAILER* mailer, int mail_class, void** data, int* length, Method* method, Find find,
            const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        ZIP_MAILER& open = mailer_of(session, mailer, mail_class);
        if (const std::string error = kind_error(method, ZIP_METHOD_EXECUTE, "execute"); !error.empty()) fail(error);
        return do_fanout(session, name, open, data, length, method, find(session, open));
      },
      caller);
}

template <typename Find>
int fanin_of(const char* name, ZIP_MAILER* mailer, int mail_class, Find find, void* buffer, Method* method, int size,
             int items, const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        ZIP_MAILER& open = mailer_of(session, mailer, mail_class);
        return do_fanin(session, name, open, find(session, open), buffer, method, size, items);
      },
      caller);
}

auto rank_is(int rank) {
  return [rank](const Session&, const ZIP_MAILER&) { return rank; };
}
auto place_is(int p, int q = 0, int r = 0) {
  return [=](const Session&, const ZIP_MAILER& mailer) { return rank_at(mailer, p, q, r); };
}
auto process_is(int node, int pid) {
  return [=](const Session& session, const ZIP_MAILER& mailer) { return rank_of(session, mailer, node, pid); };
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int zip_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("zip_combine", mailer, 0, buffer, comb_method, size, items, __builtin_return_address(0));
}
int z_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("z_combine", mailer, ZIP_Z, buffer, comb_method, size, items, __builtin_return_address(0));
}
int l_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("l_combine", mailer, ZIP_L, buffer, comb_method, size, items, __builtin_return_address(0));
}
int g1_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g1_combine", mailer, ZIP_G1, buffer, comb_method, size, items, __builtin_return_address(0));
}
int g2_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g2_combine", mailer, ZIP_G2, buffer, comb_method, size, items, __builtin_return_address(0));
}
int g3_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items) {
  return combine_at("g3_combine", mailer, ZIP_G3, buffer, comb_method, size, items, __builtin_return_address(0));
}

int zip_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig) {
  return fanout_of("zip_fanout", mailer, 0, data, length, rank_is(orig), __builtin_return_address(0));
}
int z_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig) {
  return fanout_of("z_fanout", mailer, ZIP_Z, data, length, rank_is(orig), __builtin_return_address(0));
}
int l_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_node, int orig_pid) {
  return fanout_of("l_fanout", mailer, ZIP_L, data, length, process_is(orig_node, orig_pid),
                   __builtin_return_address(0));
}
int g1_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p) {
  return fanout_of("g1_fanout", mailer, ZIP_G1, data, length, place_is(orig_p), __builtin_return_address(0));
}
int g2_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q) {
  return fanout_of("g2_fanout", mailer, ZIP_G2, data, length, place_is(orig_p, orig_q), __builtin_return_address(0));
}
int g3_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q, int orig_r) {
  return fanout_of("g3_fanout", mailer, ZIP_G3, data, length, place_is(orig_p, orig_q, orig_r),
                   __builtin_return_address(0));
}

int zip_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig) {
  return exec_of("zip_fanout_exec", mailer, 0, data, length, method, rank_is(orig), __builtin_return_address(0));
}
int z_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig) {
  return exec_of("z_fanout_exec", mailer, ZIP_Z, data, length, method, rank_is(orig), __builtin_return_address(0));
}
int l_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_node, int orig_pid) {
  return exec_of("l_fanout_exec", mailer, ZIP_L, data, length, method, process_is(orig_node, orig_pid),
                 __builtin_return_address(0));
}
int g1_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p) {
  return exec_of("g1_fanout_exec", mailer, ZIP_G1, data, length, method, place_is(orig_p), __builtin_return_address(0));
}
int g2_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q) {
  return exec_of("g2_fanout_exec", mailer, ZIP_G2, data, length, method, place_is(orig_p, orig_q),
                 __builtin_return_address(0));
}
int g3_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q, int orig_r) {
  return exec_of("g3_fanout_exec", mailer, ZIP_G3, data, length, method, place_is(orig_p, orig_q, orig_r),
                 __builtin_return_address(0));
}

int zip_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("zip_fanin", mailer, 0, rank_is(dest), buffer, comb_method, size, items, __builtin_return_address(0));
}
int z_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("z_fanin", mailer, ZIP_Z, rank_is(dest), buffer, comb_method, size, items,
                  __builtin_return_address(0));
}
int l_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("l_fanin", mailer, ZIP_L, process_is(dest_node, dest_pid), buffer, comb_method, size, items,
                  __builtin_return_address(0));
}
int g1_fanin(ZIP_MAILER* mailer, int dest_p, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("g1_fanin", mailer, ZIP_G1, place_is(dest_p), buffer, comb_method, size, items,
                  __builtin_return_address(0));
}
int g2_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, void* buffer, Method* comb_method, int size, int items) {
  return fanin_of("g2_fanin", mailer, ZIP_G2, place_is(dest_p, dest_q), buffer, comb_method, size, items,
                  __builtin_return_address(0));
}
int g3_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, void* buffer, Method* comb_method, int size,
             int items) {
  return fanin_of("g3_fanin", mailer, ZIP_G3, place_is(dest_p, dest_q, dest_r), buffer, comb_method, size, items,
                  __builtin_return_address(0));
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
