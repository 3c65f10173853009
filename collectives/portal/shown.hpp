// The common part of calls through shared memory (call_barrier, post): trace events, counts, and the detection of
// members that carry out the call by messages instead. Under the process lock.
#pragma once

#include <cstdint>

#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"

namespace margay::collectives {

// Numbers of operations (Shape) are below this: the mark of a barrier has 5 bits for them.
inline constexpr unsigned kShownOperations = 32;

// Unsuccessful polls before a wait checks whether others have gone on without this call. It then checks their progress
// at each poll; expensive checks are this many polls apart.
inline constexpr std::uint32_t kPollsBeforeDoubt = 32;

// The base of CallBarrier and Post. Only for blocking calls that take their number in order.
class Shown : public Part {
 public:
  // Records that this member reads `bytes` of a member's data.
  void record_read(int member, std::uint64_t bytes) const { record(sim::TraceKind::shared_read, member, bytes); }

 protected:
  Shown(Collective& collective, Team& team);
  ~Shown() = default;

  // Records and counts that this member shows `bytes`.
  void count(std::uint64_t bytes) const;

  // Whether a notice of this call has arrived. Its sender carries out the call by messages, or the call has failed
  // there.
  [[nodiscard]] bool has_any_notice() const;
  // Whether a member's message for this call lies in the heap. Searches the heap, so it is called rarely.
  [[nodiscard]] bool has_early_message() const;
  // Fails the call because the members make different calls, and notifies all.
  void fail_for_different_calls() const;
  // The call's shape, from which the marks of barriers and postings are made.
  [[nodiscard]] const Shape& shape() const;
  // As Collective's: fail() records the first error.
  void fail(int error_class) const;
  [[nodiscard]] bool any_lost() const;
  // Whether a member reported that it left the call because a process is lost.
  [[nodiscard]] bool has_loss_notice() const;
  // Reports to `member` that this one leaves because a process is lost.
  void notify_loss(int member) const;

  // Counts an unsuccessful poll. In a team with strips it returns true from the kPollsBeforeDoubt-th one on; members
  // that finish a call from then on wake this one. The caller must check the others' progress at each poll for which
  // this returns true. So the last poll before a sleep finds a member that finished too early to wake this one.
  [[nodiscard]] bool doubts() { return ++polls_ >= kPollsBeforeDoubt && request_progress(); }
  // The number of a barrier of this call; not 0. Two bits for the step suffice, because two barriers of a call that are
  // in use at once differ by one step. The numbers of calls repeat after kBarrierCalls calls. They are computed from
  // the 64-bit `number_`: the call's 31-bit number wraps after 2^31 calls, which is not a multiple of kBarrierCalls.
  [[nodiscard]] std::uint32_t number_of_barrier(std::uint32_t step) const {
    const auto call = static_cast<std::uint32_t>((number_ - 1) % kBarrierCalls) + 1;
    return call << kStepBits | (step & ((1U << kStepBits) - 1));
  }
  // Whether a member has arrived at a barrier of this call. Requires: this member has not arrived at one.
  [[nodiscard]] bool barrier_begun() const {
    return team_.barrier().latest() >> kStepBits == number_of_barrier(0) >> kStepBits;
  }
  // Whether this poll makes the expensive checks, as one in kPollsBeforeDoubt does.
  [[nodiscard]] bool checks_closely() const { return polls_ % kPollsBeforeDoubt == kPollsBeforeDoubt - 1; }
  // Whether some member is done with this call. Requires: the team has strips, as when doubts() returned true.
  [[nodiscard]] bool any_member_done() const;
  // The same for one member.
  [[nodiscard]] bool is_done(int member) const;
  // Whether a member left this call, or a later one, because a process is lost.
  [[nodiscard]] bool has_member_left_for_loss() const;
  [[nodiscard]] std::uint64_t number() const { return number_; }

  Team& team_;

 private:
  static constexpr unsigned kStepBits = 2;
  static constexpr std::uint64_t kBarrierCalls =
      (std::uint64_t{1} << (sim::SharedBarrier::kNumberBits - kStepBits)) - 1;
  // Makes members that finish a call wake this one. False: the team has no strips, so no progress is published.
  [[nodiscard]] bool request_progress();

  // The call's position among those of its communicator, from 1.
  std::uint64_t number_;
  std::uint32_t polls_ = 0;

  // Records an event about `bytes` of the writer's data in the trace, if there is one.
  void record(sim::TraceKind kind, int writer, std::uint64_t bytes) const;
};

}  // namespace margay::collectives
