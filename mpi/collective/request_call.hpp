// Requests for collective calls, and the macro that makes all forms of a collective.
#pragma once

#include <memory>
#include <utility>

#include "collectives/select/call_task.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/info/table.hpp"

namespace margay::mpi {

// The form of a call: MPI_Ibarrier begins at once, MPI_Barrier_init makes a call that MPI_Start begins.
enum class Form : std::uint8_t { nonblocking, persistent };

// Makes a request that owns `task`, and starts the task if the call is nonblocking. If too many requests are alive
// (2^18), it sets MPI_ERR_OTHER and leaves *request unchanged. A persistent request also opens a channel: that may wait
// for the other members, and fails with MPI_ERR_OTHER if 2^20 persistent calls of the communicator are not freed.
// Requires: the task's arguments are valid.
void begin_request(Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request);
// The same, as the end of a binding: returns the binding's result.
inline int give_request(Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  begin_request(call, form, std::move(task), request);
  return call.done();
}

// The task of a call that `What` describes; it owns the `What`, and references its datatypes until it is destroyed.
// `What` has a constructor from (Call&, arguments), which checks the arguments, and these members:
//   communicator()
//   for_each_type(function)  passes each datatype to be referenced
//   begin()                  called when a call begins
//   plan(), routine()        the algorithm and its routine, as in select/perform
//   finish()                 called after success
//   by()                     only if the call runs functions of the program
template <typename What>
class CheckedTask final : public CallTask {
 public:
  CheckedTask(MpiRank& rank, std::unique_ptr<What> what)
      : CallTask(rank, what->communicator(), by_of(*what)), what_(std::move(what)) {
    what_->for_each_type([this](Datatype& type) { keep(type); });
  }

 private:
  // A task that calls functions of the program runs in the program's calls only.
  static By by_of(const What& what) {
    if constexpr (requires { what.by(); }) {
      return what.by();
    } else {
      return By::anybody;
    }
  }
  // Each start packs anew: the program has changed its data since the last one.
  void prepare() override { what_->begin(); }
  // The `What` decides how its call is done; the facts are those at the start.
  [[nodiscard]] Plan plan(const StandingFacts& standing) const override { return what_->plan(standing); }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) override {
    return what_->routine(collective, standing, algorithm);
  }
  [[nodiscard]] int finish() override {
    what_->finish();
    return MPI_SUCCESS;
  }

  // The checked call, which each start uses again.
  std::unique_ptr<What> what_;
};

// The body of a blocking binding, whose result it returns. `What` is as for CheckedTask, and lives for the call only.
template <typename What, typename Arguments>
int perform_checked(Call& call, const Arguments& arguments) {
  // On the stack: a blocking call allocates nothing for its arguments.
  What what(call, arguments);
  if (!call.ok()) return call.failed();
  what.begin();
  record_error(call, perform(collectives_of(call), what.communicator().all_members(), what));
  // The result of a failed call is undefined, so it is not unpacked.
  if (call.ok()) what.finish();
  return call.done();
}

// The body of a nonblocking or persistent binding: `What` checks the arguments, and a `WhatTask` is made from it. Two
// allocations, the checked call and its task, for each call.
template <typename What, typename WhatTask, typename Arguments>
int give_request(Call& call, Form form, const Arguments& arguments, MPI_Request* request) {
  // Checked before the request is made, so that a failed call has no effect.
  auto checked = std::make_unique<What>(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  return give_request(call, form, std::make_unique<WhatTask>(call.rank(), std::move(checked)), request);
}

}  // namespace margay::mpi

// Defines the bindings of a collective in all its forms, each with its twin for large counts. `work` has two overloads:
// the blocking call, and the one that makes a request. The last argument is the initializer of their arguments.
//
//   MPI_X(parameters)                                            work(call, arguments)
//   MPI_IX(parameters, MPI_Request* request)                     work(call, Form::nonblocking, arguments, request)
//   MPI_X_init(parameters, MPI_Info info, MPI_Request* request)  work(call, Form::persistent, arguments, request)
//
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): several names made of one.
#define MARGAY_COLLECTIVE(name, nonblocking_name, parameters, work, ...)                      \
  MARGAY_TWINS(name, parameters, {                                                            \
    Call call(called);                                                                        \
    return work(call, __VA_ARGS__);                                                           \
  })                                                                                          \
  MARGAY_TWINS(nonblocking_name, (MARGAY_LIST parameters, MPI_Request * request), {           \
    Call call(called);                                                                        \
    return work(call, Form::nonblocking, __VA_ARGS__, request);                               \
  })                                                                                          \
  MARGAY_TWINS(name##_init, (MARGAY_LIST parameters, MPI_Info info, MPI_Request * request), { \
    Call call(called);                                                                        \
    check_hints(call, info);                                                                  \
    return work(call, Form::persistent, __VA_ARGS__, request);                                \
  })
