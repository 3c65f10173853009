#include "collectives/select/call_task.hpp"

#include "collectives/portal/rank_host.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::collectives {

CallTask::CallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by)
    : UpperLayerRequest(mpi_adi::RequestKind::collective),
      Task(rank.device().tasks(), by, &of),
      rank_(rank),
      portal_(*static_cast<TreePortal*>(rank.collectives())),
      flow_(portal_.frames(), nullptr),
      order_(*this) {
  communicator = &of;
  ++of.references;
}

// The device drops the reference to the communicator later, because the call that ends the request may still report an
// error on the communicator.
CallTask::~CallTask() {
  if (channel_) portal_.notices().close(*channel_);
  for (mpi_adi::Datatype* const type : types_) mpi_adi::Handles::release(*type);
  rank_.device().drop_reference(*communicator);
}

bool CallTask::be_persistent() {
  channel_.emplace(Channel{communicator->all_members()});
  if (portal_.notices().open(*channel_)) return true;
  channel_.reset();
  return false;
}

void CallTask::keep(mpi_adi::Datatype& type) {
  ++type.references;
  types_.push_back(&type);
}

void CallTask::start(mpi_adi::MpiRank& /*rank*/) {
  complete = false;
  begun_ = false;
  error_ = MPI_SUCCESS;
  rank_.device().request_begins();
  prepare();
  mpi_adi::Communicator& all = communicator->all_members();
  const CallNumber number = channel_ ? Notices::take_number(*channel_) : portal_.notices().take_number(all);
  mpi_adi::Task& task = *this;
  collective_.emplace(portal_, all, number, flow_, task);
  // Appends the call to its communicator's calls in progress, unless it is persistent. It begins when no gate before it
  // is in progress.
  portal_.order().enter(order_, all, number);
  begin();
}

int CallTask::outcome(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& text) {
  mpi_adi::fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (error_ == MPI_ERR_TRUNCATE) text = kDifferentCalls;
  if (error_ == MPIX_ERR_PROC_FAILED) text = mpi_adi::lost_text(rank);
  if (error_ != MPI_SUCCESS && text.empty()) text = error_text(error_);
  return error_;
}

int CallTask::end(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& text) {
  if (error_ == MPI_ERR_TRUNCATE) await_call_check(rank);
  return outcome(rank, status, text);
}

std::string CallTask::describe() const {
  return std::string(name_) + ", " + mpi_adi::communicator_text(*communicator);
}

bool CallTask::go_on() {
  if (begun_) return flow_.go_on() && routine_.done();
  if (!CallOrder::may_begin(order_)) return false;
  begun_ = true;
  routine_ = whole_routine();
  // Many routines end here, because their messages have arrived, or because they await none.
  return routine_.done();
}

Steps CallTask::whole_routine() {
  // These facts exclude shared memory: nothing wakes a suspended routine when memory changes.
  const StandingFacts& standing = facts_of(portal_.host(), collective_->communicator()).of_nonblocking();
  const Plan how = plan(standing);
  collective_->begin(how.shape, how.own);
  co_await routine(*collective_, standing, how.algorithm);
  co_await Flush(*collective_);
  error_ = collective_->error_class();
}

void CallTask::over() {
  // Destroyed first, because its coroutine frame refers to the call.
  routine_ = {};
  collective_.reset();
  portal_.order().leave(order_);
  if (error_ == MPI_SUCCESS) error_ = finish();
  rank_.device().request_ends();
  complete = true;
}

}  // namespace margay::collectives
