// Giving a collective call that does not block its request.
#pragma once

#include <memory>
#include <utility>

#include "collectives/select/call_task.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/note_call.hpp"
#include "mpi/info/table.hpp"

namespace margay::mpi {

// How a call is made: MPI_Ibarrier begins at once, MPI_Barrier_init is begun by MPI_Start.
enum class Form : std::uint8_t { nonblocking, persistent };

// `task` is checked, and begins where its form says so. *request names it, and owns it; unless an error was noted.
void begin_request(Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request);
inline int give_request(Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  begin_request(call, form, std::move(task), request);
  return call.done();
}

// A call that `What` has checked, in its constructor from (Call&, arguments): communicator(), for_each_type(function)
// of the datatypes that it refers to, begin() when a call begins, plan() and text() as those of select/perform,
// finish() when its messages ended well; and by(), where it calls functions of the program's.
template <typename What>
class CheckedTask final : public CallTask {
 public:
  CheckedTask(MpiRank& rank, std::unique_ptr<What> what)
      : CallTask(rank, what->communicator(), by_of(*what)), what_(std::move(what)) {
    what_->for_each_type([this](Datatype& type) { keep(type); });
  }

 private:
  static By by_of(const What& what) {
    if constexpr (requires { what.by(); }) {
      return what.by();
    } else {
      return By::anybody;
    }
  }
  void prepare() override { what_->begin(); }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const override { return what_->plan(standing); }
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) override {
    return what_->text(collective, standing, algorithm);
  }
  [[nodiscard]] int finish() override {
    what_->finish();
    return MPI_SUCCESS;
  }

  std::unique_ptr<What> what_;
};

// The whole of a binding that blocks.
template <typename What, typename Arguments>
int perform_checked(Call& call, const Arguments& arguments) {
  What what(call, arguments);
  if (!call.ok()) return call.failed();
  what.begin();
  note_error(call, perform(collectives_of(call), what.communicator().everybody(), what));
  if (call.ok()) what.finish();
  return call.done();
}

// The whole of a binding whose arguments `What` checks, and of which a `TaskOfWhat` is made.
template <typename What, typename TaskOfWhat, typename Arguments>
int give_request(Call& call, Form form, const Arguments& arguments, MPI_Request* request) {
  auto checked = std::make_unique<What>(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  return give_request(call, form, std::make_unique<TaskOfWhat>(call.rank(), std::move(checked)), request);
}

}  // namespace margay::mpi

// The bindings of a collective in all its forms, each with its twin for large counts. `work` has two overloads: the
// call that blocks, and the one that gives a request. The last argument is what both do it with.
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
