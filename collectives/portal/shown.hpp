// What calls by way of memory that all members see have in common (meet, post): the trace of who wrote and who read,
// the counts, and the signs that others take the call for one by messages. Under the process lock.
#pragma once

#include <cstdint>

#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"

namespace margay::collectives {

// Numbers of operations (Shape) are below this.
inline constexpr unsigned kShownOperations = 32;

// Looks in vain before the first, and between two, at whether others have gone on without this call.
inline constexpr std::uint32_t kLooksBeforeDoubt = 32;

class Shown : public Part {
 public:
  // This member reads `bytes` of a member's.
  void note_read(int member, std::uint64_t bytes) const { record(sim::TraceKind::shared_read, member, bytes); }

 protected:
  Shown(Collective& collective, Team& team);
  ~Shown() = default;

  // It shows `bytes`.
  void count(std::uint64_t bytes) const;

  // What is said in this call says that its member takes it for one by messages.
  [[nodiscard]] bool messages_are_spoken_of() const;
  // A member sent a message for it. To be asked seldom.
  [[nodiscard]] bool messages_have_come() const;
  // The members make different calls: all are told.
  void fail_for_different_calls() const;
  [[nodiscard]] const Shape& shape() const;
  void fail(int error_class) const;
  [[nodiscard]] bool any_lost() const;
  // A member that left for a lost one has said so.
  [[nodiscard]] bool others_speak_of_a_loss() const;
  void tell_of_a_loss(int member) const;

  // A look in vain. From the kLooksBeforeDoubt-th on others tell of their progress, and each look is at that too: so
  // the last one before a sleep is.
  [[nodiscard]] bool doubts() { return ++looks_ >= kLooksBeforeDoubt && ask_for_progress(); }
  // Of a call's meetings, of which two that are under way at once differ by one step at most. Not 0. Two calls have the
  // same only where a multiple of kMeetingCalls lies between them, so of `number_`: the call's word wraps before.
  [[nodiscard]] std::uint32_t number_of_meeting(std::uint32_t step) const {
    const auto call = static_cast<std::uint32_t>((number_ - 1) % kMeetingCalls) + 1;
    return call << kStepBits | (step & ((1U << kStepBits) - 1));
  }
  // Some member has come to a meeting of this call. Requires: this one has not.
  [[nodiscard]] bool somebody_meets() const {
    return team_.meeting().latest() >> kStepBits == number_of_meeting(0) >> kStepBits;
  }
  // At times of those.
  [[nodiscard]] bool looks_closely() const { return looks_ % kLooksBeforeDoubt == kLooksBeforeDoubt - 1; }
  // Some member is done with this call. Requires: doubts() said true.
  [[nodiscard]] bool somebody_is_done() const;
  [[nodiscard]] bool is_done(int member) const;
  // Some member left this call, or a later one, because a process is lost.
  [[nodiscard]] bool others_left_the_lost() const;
  [[nodiscard]] std::uint64_t number() const { return number_; }

  Team& team_;

 private:
  static constexpr unsigned kStepBits = 2;
  static constexpr std::uint64_t kMeetingCalls = (std::uint64_t{1} << (sim::Meeting::kNumberBits - kStepBits)) - 1;
  [[nodiscard]] bool ask_for_progress();

  std::uint64_t number_;  // of the call among the communicator's, from 1
  std::uint32_t looks_ = 0;

  void record(sim::TraceKind kind, int writer, std::uint64_t bytes) const;
};

}  // namespace margay::collectives
