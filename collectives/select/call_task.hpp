// A nonblocking collective call. It runs the routine of the blocking call. Where a blocking call would wait, the
// routine suspends; it resumes when the awaited event has happened. MPI_Wait and its variants complete its request; a
// persistent one is started repeatedly, each time as a call of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/portal/call_number.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

namespace margay::collectives {

// The request and the task of a nonblocking or persistent call. The MPI call that completes the request (MPI_Wait,
// MPI_Test), or that frees a persistent one, deletes this object. The task runs whenever an event wakes it. Under the
// process lock.
class CallTask : public mpi_adi::UpperLayerRequest, private mpi_adi::Task {
 public:
  using Task::By;
  ~CallTask() override;

  // Makes the call persistent: it gets a channel, so that persistent calls match in the order in which they are made,
  // whatever the order of their starts (MPI 4.0, 6.13). Returns false if the members have to agree on channels first:
  // see Notices::open().
  [[nodiscard]] bool be_persistent();
  // Begins a call: takes its number, and runs its routine as far as it can. Requires: none is in progress.
  void start(mpi_adi::MpiRank& rank) override;
  // The call's error class; `text` gets a message for it. end() also lets the check of collective calls report first.
  [[nodiscard]] int outcome(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& text) override;
  [[nodiscard]] int end(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& text) override;
  // Sets the name of the MPI function that makes the request, for reports; a literal.
  void name_it(const char* name) { name_ = name; }
  // Does nothing, because the bindings reject it: a nonblocking collective's request is neither cancelled nor freed
  // before it is complete (MPI 4.0, 6.12).
  [[nodiscard]] int give_up(mpi_adi::MpiRank& /*rank*/, std::string& /*text*/) override { return MPI_SUCCESS; }

  // The pool of the coroutine frames of the call's routines.
  [[nodiscard]] mpi_adi::FramePool& frames() const { return portal_.frames(); }

 protected:
  // Takes a reference to the communicator. `by`: By::program if the routine calls functions of the program; it then
  // runs in the program's calls only.
  CallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by);
  [[nodiscard]] mpi_adi::MpiRank& rank() const { return rank_; }
  // Keeps a reference, until destruction, to a datatype that the program may free earlier.
  void keep(mpi_adi::Datatype& type);

 private:
  // Packs the program's data. Called when a call begins.
  virtual void prepare() {}
  // Puts the result into the program's memory, and returns MPI_SUCCESS or the call's error. Called after the call's
  // messages, if they brought no error.
  [[nodiscard]] virtual int finish() { return MPI_SUCCESS; }
  // The message for an error that is neither a difference of calls nor a lost process.
  [[nodiscard]] virtual std::string error_text(int /*error_class*/) const { return {}; }
  // The algorithm and the shape of the call.
  [[nodiscard]] virtual Plan plan(const StandingFacts& standing) const = 0;
  // Starts the call's routine.
  [[nodiscard]] virtual Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) = 0;

  // The whole call as a routine, from its plan to its flush.
  [[nodiscard]] Steps whole_routine();
  // The call's name and communicator, for reports of stalled ranks.
  [[nodiscard]] std::string describe() const override;
  // Runs the routine as far as it can; returns whether it is complete.
  [[nodiscard]] bool go_on() override;
  // Ends the call: lets later ones begin, unpacks the result, completes the request.
  void over() override;

  mpi_adi::MpiRank& rank_;
  TreePortal& portal_;
  Flow flow_;
  // The call's link in the order of its communicator's nonblocking calls.
  OrderedCall order_;
  // The channel of a persistent call; empty for others.
  std::optional<Channel> channel_;
  // The datatypes to which keep() has taken references.
  std::vector<mpi_adi::Datatype*> types_;
  // The call in progress; empty between the starts of a persistent one.
  std::optional<Collective> collective_;
  // For reports; "" until name_it().
  const char* name_ = "";
  // The routine has begun. Before, the call waits for the end of the gates before it (CallOrder::may_begin()).
  bool begun_ = false;
  // The call's error class, for the request's outcome.
  int error_ = MPI_SUCCESS;
  // The routine's coroutine.
  Steps routine_;
};

// A call of select/perform whose data lies in the program's memory, so that nothing is packed. A derived class fills
// what_ before the call begins.
template <typename What>
class PlainCallTask : public CallTask {
 public:
  PlainCallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by = By::anybody) : CallTask(rank, of, by) {}

 private:
  [[nodiscard]] Plan plan(const StandingFacts& standing) const override { return plan_of(what_, standing); }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) override {
    return routine_of(what_, collective, standing, algorithm);
  }

 protected:
  // The arguments of the call.
  What what_;
};

}  // namespace margay::collectives
