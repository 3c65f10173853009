// A nonblocking call without MPI: the tests' counterpart of select/call_task.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "collectives/portal/call_number.hpp"
#include "collectives/portal/collective.hpp"

namespace margay::collectives {

class StoppingCall final : private mpi_adi::Task {
 public:
  using Routine = std::function<Steps(Collective&)>;

  StoppingCall(TreePortal& portal, mpi_adi::TaskQueue& tasks, mpi_adi::Communicator& communicator, CallNumber number,
               Routine routine)
      : Task(tasks, By::anybody),
        portal_(portal),
        what_(std::move(routine)),
        flow_(portal.frames(), nullptr),
        place_(*this),
        collective_(std::in_place, portal, communicator, number, flow_, static_cast<Task&>(*this)) {
    portal_.order().enter(place_, communicator, number);
    begin();
  }
  ~StoppingCall() override { MARGAY_ASSERT(over_); }

  [[nodiscard]] bool is_over() const { return over_; }
  [[nodiscard]] int error_class() const { return error_class_; }
  [[nodiscard]] int suspensions() const { return suspensions_; }
  // The number of polls.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] mpi_adi::FramePool& frames() const { return portal_.frames(); }

 private:
  Steps whole_routine() {
    collective_->begin({});
    co_await what_(*collective_);
    co_await Flush(*collective_);
  }
  bool go_on() override {
    ++runs_;
    if (!begun_) {
      if (!CallOrder::may_begin(place_)) return false;
      begun_ = true;
      routine_ = whole_routine();
    } else if (!flow_.go_on()) {
      return false;
    }
    if (!routine_.done()) ++suspensions_;
    return routine_.done();
  }
  void over() override {
    error_class_ = collective_->error_class();
    routine_ = {};
    collective_.reset();
    portal_.order().leave(place_);
    over_ = true;
  }

  TreePortal& portal_;
  Routine what_;
  Flow flow_;
  OrderedCall place_;
  std::optional<Collective> collective_;
  Steps routine_;
  bool begun_ = false;
  bool over_ = false;
  int error_class_ = MPI_SUCCESS;
  int suspensions_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace margay::collectives
