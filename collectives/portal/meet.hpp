// A call by way of memory that all members see: each shows the others its part, and comes; who comes last opens; then
// all read what they want of the others' parts.
//
//   Meet meet(collective, team, bytes);
//   write meet.mine();
//   if (meet.come()) meet.open(); else co_await meet;
//   if (collective.error_class() == MPI_SUCCESS) read meet.part(member) ...
//
// For calls that wait in place: nobody is told of memory that changed, who waits looks. No message is sent, so nothing
// runs ahead, and a message kernel has nothing to tell; the trace has who wrote and who read. At most once in a call.
#pragma once

#include <cstdint>

#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"

namespace margay::collectives {

// Numbers of operations (Shape) are below this.
inline constexpr unsigned kMeetingOperations = 32;

class Meet : public Part, public mpi_adi::Awaitable<Meet> {
 public:
  // `bytes`: what each member shows, the same on all; at most sim::kMeetingPartBytes.
  Meet(Collective& collective, Team& team, std::uint64_t bytes)
      : Part(collective), team_(team), bytes_(bytes), side_(team.meeting().side()) {}

  [[nodiscard]] std::byte* mine() { return team_.part(collective_.rank(), side_, bytes_); }
  // true: this is the last member, all others' parts are there, and open() is to follow. If members name different
  // calls the call has the error.
  [[nodiscard]] bool come();
  void open();
  [[nodiscard]] bool advance();
  // Of a member, once it is open, or by who is to open it.
  [[nodiscard]] const std::byte* part(int member);
  // The member that opened it.
  [[nodiscard]] int opener() const { return static_cast<int>(team_.meeting().opener()); }

 private:
  // Numbers of meetings are not 0.
  [[nodiscard]] std::uint32_t number() const {
    return (collective_.call_.number.word() + 1) & ((1U << sim::Meeting::kNumberBits) - 1);
  }
  [[nodiscard]] bool goes_on_elsewhere();
  void leave_the_lost();
  void record(sim::TraceKind kind, int writer) const;

  Team& team_;
  std::uint64_t bytes_;
  unsigned side_;
  bool late_ = false;
  std::uint32_t looks_ = 0;
  std::uint32_t doubts_ = 0;
};

}  // namespace margay::collectives
