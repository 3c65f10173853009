#include "collectives/portal/call_barrier.hpp"

#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// The number of times that is_alone() must find that a member has gone on before it returns true. At the first time,
// the notice that gives the reason (a lost process) may still be on its way.
constexpr std::uint32_t kDoubts = 2;

// The mark that members of a barrier compare: the operation, and the number of bytes of short data. The mark of long
// data has kMarkLong instead of the number; each member writes the number into its part (LongCall).
constexpr unsigned kMarkBytesBits = 15;
constexpr std::uint32_t kMarkLong = (1U << kMarkBytesBits) - 1;
static_assert(sim::kBarrierPartBytes < kMarkLong);

std::uint32_t mark_of(const Shape& shape, std::uint64_t bytes) {
  static_assert(kShownOperations == 1U << (sim::SharedBarrier::kMarkBits - kMarkBytesBits));
  const std::uint32_t length = bytes <= sim::kBarrierPartBytes ? static_cast<std::uint32_t>(bytes) : kMarkLong;
  return std::uint32_t{shape.operation} << kMarkBytesBits | length;
}

}  // namespace

bool CallBarrier::arrive(std::uint64_t bytes) {
  MARGAY_ASSERT(bytes_ <= sim::kBarrierPartBytes || team_.has_strips());
  count(bytes);
  sim::SharedBarrier& barrier = team_.barrier();
  // A strip has room for data only, so the length goes into this member's part, before the member arrives.
  if (in_strips() && step_ == 0) {
    const LongCall mine = long_call();
    std::memcpy(team_.part(collective_.rank(), side_, sizeof mine), &mine, sizeof mine);
  }
  switch (barrier.arrive(barrier_number(), mark_of(shape(), bytes_))) {
    case sim::SharedBarrier::ArrivalOrder::waits:
      return false;
    // Other members went on to a later barrier, so this barrier never opens; advance() finds the reason.
    case sim::SharedBarrier::ArrivalOrder::late:
      late_ = true;
      return false;
    case sim::SharedBarrier::ArrivalOrder::last:
      break;
  }
  // Only the last member compares the parts, because only its arrival is ordered after the writes of all members
  // (SharedBarrier::arrive).
  if (barrier.has_other_marks()) {
    fail(MPI_ERR_TRUNCATE);
  } else if (in_strips() && step_ == 0 && !all_name_this_call()) {
    barrier.record_other_marks();
    fail(MPI_ERR_TRUNCATE);
  }
  return true;
}

CallBarrier::LongCall CallBarrier::long_call() const {
  return {bytes_, shape().root};
}

bool CallBarrier::all_name_this_call() const {
  const LongCall mine = long_call();
  for (int member = 0; member < collective_.size(); ++member) {
    if (std::memcmp(team_.part(member, side_, sizeof mine), &mine, sizeof mine) != 0) return false;
  }
  return true;
}

void CallBarrier::next() {
  ++step_;
  doubts_ = 0;
  // Opening a barrier changed the side.
  side_ = team_.barrier().side();
}

void CallBarrier::open() {
  team_.barrier().open(barrier_number(), static_cast<std::uint32_t>(collective_.rank()));
  team_.wake_others();
}

bool CallBarrier::advance() {
  const sim::SharedBarrier& barrier = team_.barrier();
  if (!late_ && is_open()) [[likely]] {
    // Only damaged memory names an opener that is not a member. The call then fails, and nothing is read.
    if (barrier.marks_differ() || opener() >= team_.size()) fail(MPI_ERR_TRUNCATE);
    return true;
  }
  if (any_lost() || has_loss_notice()) {
    fail_for_loss();
    return true;
  }
  // There are two possible reasons for a notice, or for a member that goes on without this barrier: the members make
  // different calls, or a member has left because a process is lost.
  if (!has_any_notice() && !is_alone()) return false;
  // The barrier may have opened since the first test. Then the members that went on are right.
  if (!late_ && is_open()) return false;
  if (has_member_left_for_loss()) {
    fail_for_loss();
  } else {
    fail_for_different_calls();
  }
  return true;
}

// Whether a member is done with this call, has sent a message for it, or has arrived at a later barrier. The first
// counts at once; only members of a team with strips publish it. The other two must be found twice (kDoubts). A member
// that leaves the barrier because a process is lost sends a notice before it goes on. By the second time this notice
// has arrived, and advance() handles it instead.
bool CallBarrier::is_alone() {
  if (doubts() && any_member_done()) return true;
  if (!checks_closely()) return false;
  const bool gone = late_ || has_early_message() || team_.barrier().is_abandoned(barrier_number(), side_);
  return gone && ++doubts_ == kDoubts;
}

// Notifies all others. Each of them leaves the barrier, too, and the notice gives it the reason.
void CallBarrier::fail_for_loss() {
  fail(MPIX_ERR_PROC_FAILED);
  team_.leave_for_loss();
  for (int member = 0; member < collective_.size(); ++member) {
    if (member != collective_.rank()) notify_loss(member);
  }
}

const std::byte* CallBarrier::part(int member, std::uint64_t bytes) {
  record_read(member, bytes);
  return part_of(member);
}

const std::byte* CallBarrier::earlier(int member, std::uint64_t bytes) {
  record_read(member, bytes);
  return part_on(member, side_ ^ 1U);
}

}  // namespace margay::collectives
