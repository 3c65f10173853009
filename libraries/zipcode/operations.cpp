#include "libraries/zipcode/operations.hpp"

#include <string>
#include <type_traits>

#include "libraries/zipcode/collective.hpp"
#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

// Checks that the caller is a member of a mailer with collective operations.
void check_collective(const ZIP_MAILER& mailer) {
  check_has_collectives(mailer);
  if (mailer.is_outside())
    fail("the Postmaster is outside of the grid, and not a member of its collective operations; let the members call");
}

// The cached method of an operation; nullptr: the operation is by messages.
Method* cached(const ZIP_MAILER& mailer, int operation) {
  if (mailer.in_replacement != 0) return nullptr;
  return mailer.operations[static_cast<std::size_t>(operation)].method;
}

// Runs a cached method, in which the mailer's operations are those by messages.
template <typename Function>
void replace(Session& session, ZIP_MAILER& mailer, Function function) {
  ++mailer.in_replacement;
  run_outside(session.rank, function);
  // The method may have closed the mailer, though it must not.
  if (session.known.contains(&mailer)) --mailer.in_replacement;
}

template <typename Function>
Function* as_operation(const Method& method) {
  return reinterpret_cast<Function*>(method.function);
}

// Runs an operation: `messages(session, call, mailer, arguments...)`, or the cached method, whose result is returned.
template <typename Function, typename... Arguments>
int run_operation(Session& session, const char* call, ZIP_MAILER& mailer, int operation,
                  std::type_identity_t<void (*)(Session&, const char*, ZIP_MAILER&, Arguments...)> messages,
                  Arguments... arguments) {
  Method* const by = cached(mailer, operation);
  if (by == nullptr) {
    messages(session, call, mailer, arguments...);
    return 0;
  }
  int result = 0;
  replace(session, mailer, [&] { result = as_operation<Function>(*by)(&mailer, arguments..., by->state); });
  return result;
}

}  // namespace

void check_has_collectives(const ZIP_MAILER& mailer) {
  if (mailer.mail_class == ZIP_Y) fail("class Y has no collective operations; use class Z");
}

int do_combine(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
               int items) {
  check_collective(mailer);
  return run_operation<Zip_combine_operation>(session, call, mailer, ZIP_OP_COMBINE, combine, buffer, method, size,
                                              items);
}

int do_prefix(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
              int items) {
  check_collective(mailer);
  return run_operation<Zip_combine_operation>(session, call, mailer, ZIP_OP_PREFIX, prefix, buffer, method, size,
                                              items);
}

int do_fanin(Session& session, const char* call, ZIP_MAILER& mailer, int dest, void* buffer, Method* method, int size,
             int items) {
  check_collective(mailer);
  static_cast<void>(check_member(mailer, dest));
  return run_operation<Zip_fanin_operation>(session, call, mailer, ZIP_OP_FANIN, fanin, dest, buffer, method, size,
                                            items);
}

int do_fanout(Session& session, const char* call, ZIP_MAILER& mailer, void** data, int* length, Method* exec,
              int orig) {
  check_collective(mailer);
  static_cast<void>(check_member(mailer, orig));
  Method* const by = cached(mailer, ZIP_OP_FANOUT);
  if (by == nullptr) {
    fanout(session, call, mailer, data, length, exec, orig);
    return 0;
  }
  if (data == nullptr || length == nullptr) fail("data or length is NULL");
  int result = 0;
  replace(session, mailer,
          [&] { result = as_operation<Zip_fanout_operation>(*by)(&mailer, data, length, orig, by->state); });
  // Before the data are passed on, only the way by messages could run it.
  if (result == 0 && exec != nullptr) execute(session, *exec, *data, *length);
  return result;
}

int do_sync(Session& session, const char* call, ZIP_MAILER& mailer) {
  check_collective(mailer);
  const auto messages = [](Session& inside, const char* name, ZIP_MAILER& open) {
    sync(inside, name, open, Scope::members);
  };
  return run_operation<Zip_sync_operation>(session, call, mailer, ZIP_OP_SYNC, messages);
}

void do_send(Session& session, ZIP_MAILER& mailer, char* letter, int rank) {
  const Destination to = to_rank(mailer, rank);
  if (Method* const by = cached(mailer, ZIP_OP_SEND)) {
    static_cast<void>(session.find_letter(&mailer, letter));
    replace(session, mailer, [&] { as_operation<Zip_send_operation> (*by)(&mailer, letter, rank, by->state); });
  } else {
    send(session, mailer, session.take_back(&mailer, letter), to);
  }
}

char* do_receive(Session& session, const char* call, ZIP_MAILER& mailer, int rank, bool is_blocked) {
  Selection from;
  from_rank(mailer, rank, from);
  Method* const by = cached(mailer, ZIP_OP_RECV);
  if (by == nullptr) return receive(session, call, mailer, from, is_blocked);
  char* letter = nullptr;
  replace(session, mailer,
          [&] { letter = as_operation<Zip_recv_operation>(*by)(&mailer, rank, is_blocked ? 1 : 0, by->state); });
  return letter;
}

}  // namespace margay::zipcode::core
