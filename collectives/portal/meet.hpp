// A call by way of memory that all members see: each shows the others its part, and comes; who comes last opens; then
// all read what they want of the others' parts.
//
//   Meet meet(collective, team, bytes);
//   write meet.mine();
//   meet.arrive(bytes);
//   co_await meet;
//   if (collective.error_class() == MPI_SUCCESS) read meet.part(member, bytes) ...
//
// Long data goes strip by strip, each in a meeting of its own (next()): what was written before a meeting is read after
// it, and before the reader comes to the next one.
//
// For calls that wait in place: nobody is told of memory that changed, who waits looks. No message is sent, so nothing
// runs ahead, and a message kernel has nothing to tell; the trace has who wrote and who read. One in a call.
#pragma once

#include <cstdint>

#include "collectives/portal/shown.hpp"

namespace margay::collectives {

class Meet : public Shown, public mpi_adi::Awaitable<Meet> {
 public:
  // `bytes`: of each member's data, the same on all. Up to sim::kMeetingPartBytes a part holds all of it; of longer
  // data, which only a team with strips has, a strip.
  Meet(Collective& collective, Team& team, std::uint64_t bytes)
      : Shown(collective, team), bytes_(bytes), side_(team.meeting().side()) {}

  // What this member shows: a part; or a strip, and behind its kStripBytes as much for what strips come to.
  [[nodiscard]] std::byte* mine() { return place_of(collective_.rank()); }
  // This member shows `bytes` in this meeting. true: it is the last one, all others' parts are there, and open() is to
  // follow. If members name different calls the call has the error.
  [[nodiscard]] bool come(std::uint64_t bytes);
  void open();
  // Both, where nothing is to be done between. To be awaited by all then.
  void arrive(std::uint64_t bytes) {
    if (come(bytes)) open();
  }
  [[nodiscard]] bool advance();
  // Of a member, once it is open, or by who is to open it; `bytes` of it are read.
  [[nodiscard]] const std::byte* part(int member, std::uint64_t bytes);
  // The member that opened it.
  [[nodiscard]] int opener() const { return static_cast<int>(team_.meeting().opener()); }
  // The next meeting of the call, on the other side. Requires: this one is open. What others showed in this one is read
  // by earlier(), until come().
  void next();
  [[nodiscard]] const std::byte* earlier(int member, std::uint64_t bytes);

 private:
  [[nodiscard]] std::uint32_t meeting_number() const { return number_of_meeting(step_); }
  [[nodiscard]] bool is_open() const { return team_.meeting().is_open(meeting_number(), side_); }
  [[nodiscard]] bool in_strips() const { return bytes_ > sim::kMeetingPartBytes; }
  [[nodiscard]] std::byte* place_on(int member, unsigned side) const {
    return in_strips() ? team_.strip(member, side) : team_.part(member, side, bytes_);
  }
  [[nodiscard]] std::byte* place_of(int member) const { return place_on(member, side_); }
  // What each member's line says of a call with long data: the same on all.
  struct LongCall {
    std::uint64_t bytes;
    std::uint64_t root;
  };
  [[nodiscard]] LongCall long_call() const;
  [[nodiscard]] bool all_name_this_call() const;
  [[nodiscard]] bool is_alone();
  void leave_the_lost();

  std::uint64_t bytes_;
  unsigned side_;
  std::uint32_t step_ = 0;
  bool late_ = false;
  std::uint32_t doubts_ = 0;
};

}  // namespace margay::collectives
