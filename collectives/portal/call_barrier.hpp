// A call through shared memory with a shared-memory barrier: each member writes its part and arrives; the last one
// opens; then all read the parts that they need.
//
//   CallBarrier barrier(collective, team, bytes);
//   write barrier.mine();
//   barrier.arrive_and_open(bytes);
//   co_await barrier;
//   if (collective.error_class() == MPI_SUCCESS) read barrier.part(member, bytes) ...
//
// Long data goes strip by strip, with a barrier for each strip (next()). A member writes a strip before that strip's
// barrier, and reads the others' strips before it arrives at the next barrier.
//
// Only for calls that wait in place: members poll, because a change of memory wakes no task. No message is sent, and no
// rank runs ahead. The trace records the writers and the readers. At most one CallBarrier in a call.
#pragma once

#include <cstdint>

#include "collectives/portal/shown.hpp"

namespace margay::collectives {

// One member's side of the barriers of one call. Refers to `collective` and `team`, which outlive it. A barrier costs
// each member one read-modify-write of a cache line, and the poll that finds it open (sim/shm/shared_barrier).
class CallBarrier : public Shown, public mpi_adi::Awaitable<CallBarrier> {
 public:
  // `bytes`: the length of each member's data, the same on all. Up to sim::kBarrierPartBytes a part holds all of it;
  // longer data, which only a team with strips can have, goes in strips.
  CallBarrier(Collective& collective, Team& team, std::uint64_t bytes)
      : Shown(collective, team), bytes_(bytes), side_(team.barrier().side()) {}

  // The memory in which this member writes: a part; or a strip of kStripBytes bytes, followed by as many bytes for
  // results of strips.
  [[nodiscard]] std::byte* mine() { return part_of(collective_.rank()); }
  // Arrives, with `bytes` written. Returns true on the last member: it sees all others' parts and must call open(). If
  // members make different calls, the call fails with MPI_ERR_TRUNCATE.
  [[nodiscard]] bool arrive(std::uint64_t bytes);
  // Releases the others. Requires: arrive() returned true.
  void open();
  // arrive() and open(), where the last member has nothing to do in between. All members then await this.
  void arrive_and_open(std::uint64_t bytes) {
    if (arrive(bytes)) open();
  }
  // Whether the barrier is open, or the call has failed.
  [[nodiscard]] bool advance();
  // A member's part of which the caller reads `bytes`. Requires: the barrier is open, or the caller is to open it.
  [[nodiscard]] const std::byte* part(int member, std::uint64_t bytes);
  // The member that opened the barrier.
  [[nodiscard]] int opener() const { return static_cast<int>(team_.barrier().opener()); }
  // Begins the call's next barrier, on the other side of the memory. Requires: the current barrier is open. Its parts
  // stay readable through earlier() until arrive().
  void next();
  // As part(), for the barrier before this one.
  [[nodiscard]] const std::byte* earlier(int member, std::uint64_t bytes);

 private:
  [[nodiscard]] std::uint32_t barrier_number() const { return number_of_barrier(step_); }
  [[nodiscard]] bool is_open() const { return team_.barrier().is_open(barrier_number(), side_); }
  [[nodiscard]] bool in_strips() const { return bytes_ > sim::kBarrierPartBytes; }
  [[nodiscard]] std::byte* part_on(int member, unsigned side) const {
    return in_strips() ? team_.strip(member, side) : team_.part(member, side, bytes_);
  }
  [[nodiscard]] std::byte* part_of(int member) const { return part_on(member, side_); }
  // The description that each member of a call with long data writes in its cache line, because the barrier's mark has
  // no room for it. It must be equal on all members.
  struct LongCall {
    std::uint64_t bytes;
    std::uint64_t root;
  };
  [[nodiscard]] LongCall long_call() const;
  // Whether all members wrote the same LongCall; called by the last member only, before it opens the barrier.
  [[nodiscard]] bool all_name_this_call() const;
  // Whether a wait would never end, because another member goes on without this barrier.
  [[nodiscard]] bool is_alone();
  // Fails the call because a process is lost, and notifies the others.
  void fail_for_loss();

  // Bytes of each member's data.
  std::uint64_t bytes_;
  // The current barrier: its side of the memory, and its number among those of the call, from 0.
  unsigned side_;
  std::uint32_t step_ = 0;
  // Other members have gone on to a later barrier, so the current barrier never opens.
  bool late_ = false;
  // The number of times that is_alone() has found, in the current barrier, that a member has gone on (kDoubts).
  std::uint32_t doubts_ = 0;
};

}  // namespace margay::collectives
