#include "collectives/select/call_task.hpp"

#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/mpi/receive_call.hpp"
#include "mpi_adi/progress/describe.hpp"

namespace margay::collectives {

CallTask::CallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by)
    : OwnRequest(mpi_adi::RequestKind::collective),
      Task(rank.device().tasks(), by),
      rank_(rank),
      portal_(*static_cast<TreePortal*>(rank.collectives())),
      flow_(portal_.frames(), nullptr),
      place_(*this) {
  communicator = &of;
  ++of.references;
}

CallTask::~CallTask() {
  for (mpi_adi::Datatype* const type : types_) rank_.release(*type);
  rank_.release(*communicator);
}

void CallTask::keep(mpi_adi::Datatype& type) {
  ++type.references;
  types_.push_back(&type);
}

void CallTask::start(mpi_adi::MpiRank& /*rank*/) {
  complete = false;
  begun_ = false;
  error_ = MPI_SUCCESS;
  ++rank_.device().parts().under_way;
  prepare();
  mpi_adi::Task& task = *this;
  collective_.emplace(portal_, *communicator, flow_, task);
  portal_.order().enter(place_, *communicator, is_gate(collective_->sequence()));
  begin();
}

int CallTask::outcome(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& words) {
  mpi_adi::fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (error_ == MPI_ERR_TRUNCATE) words = kDifferentCalls;
  if (error_ == MPIX_ERR_PROC_FAILED) words = mpi_adi::words_of_lost(rank);
  return error_;
}

std::string CallTask::under_way() const {
  return collective_ ? std::string(name_) + ", " + mpi_adi::communicator_word(*communicator) : "";
}

// A lost peer wakes all tasks, also those that are not under way.
bool CallTask::go_on() {
  if (!collective_) return false;
  if (begun_) return flow_.go_on() && text_.done();
  if (!portal_.order().may_begin(place_)) return false;
  begun_ = true;
  text_ = whole_text();
  return text_.done();
}

Steps CallTask::whole_text() {
  const StandingFacts& standing = facts_of(portal_.host(), *communicator);
  const Plan how = plan(standing);
  collective_->begin(how.shape);
  co_await text(*collective_, standing, how.algorithm);
  co_await Flush(*collective_);
  error_ = collective_->error_class();
}

void CallTask::over() {
  text_ = {};
  collective_.reset();
  portal_.order().leave(place_);
  if (error_ == MPI_SUCCESS) finish();
  mpi_adi::DeviceParts& parts = rank_.device().parts();
  --parts.under_way;
  ++parts.completions;
  complete = true;
}

}  // namespace margay::collectives
