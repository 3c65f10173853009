// A detector of stalls and deadlocks, which reports each rank's wait. Reads the job board and writes its question
// there.
//
// A stall is observed: every rank inside MPI has reported a long wait, and nothing has moved for a while. A deadlock is
// proven: the launcher published a question during the stall, and since then each rank has polled all its wires, found
// nothing and answered, while no rank made progress. So no message is in flight, no rank computes (a stopped rank, or
// one without a processor, does not answer), and only a message can end any of the waits. The proof is impossible while
// another event could end a wait: a call of another thread (MPI_THREAD_MULTIPLE), or the program's completion of a
// generalized request. It is also impossible while a running process is outside MPI, and once the job has guests
// (processes of other jobs), which may send at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run/report/report.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// The rank's wait as a phrase; the second form adds its posted receives and unexpected messages. Requires: the rank has
// reported a long wait.
[[nodiscard]] std::string describe_wait_target(const sim::BoardBlock& block);
[[nodiscard]] std::string describe_wait(const sim::BoardBlock& block);
// The first words about a deadlock. `is_any_held`: messages lack room, and are held on their wires.
[[nodiscard]] std::string_view describe_deadlock(bool is_any_held);

// Observes one job. Cost of a call: one pass over the ranks' blocks of the board.
class StallDetector {
 public:
  // A stall: every initialised and unfinished rank has reported a long wait, and nothing changes for another
  // `after_ns`. `has_ended`: whether the rank's process has ended. `name_location` may be empty.
  StallDetector(const sim::Board& board, std::int64_t after_ns, std::function<bool(std::uint32_t)> has_ended,
                NameLocation name_location = {})
      : board_(board),
        after_ns_(after_ns),
        has_ended_(std::move(has_ended)),
        name_location_(std::move(name_location)) {}

  // To be called about once a second. Returns the lines of a report, once for each stall and again when it is proven to
  // be a deadlock; empty otherwise. `is_any_stopped`: a rank is stopped by a signal, so its last report is out of date,
  // and the other ranks wait for it. The board's header has the reported state until something moves.
  [[nodiscard]] std::vector<std::string> look(std::int64_t now_ns, bool is_any_stopped = false);
  // Whether the latest call has proven a deadlock.
  [[nodiscard]] bool deadlock() const { return reported_ == sim::BoardStall::deadlock; }

 private:
  // Publishes the state and the cycle in the board's header, from where `margay top` reads them.
  void report(sim::BoardStall what);
  // At least one rank is in MPI, and every rank in MPI has reported a long wait.
  [[nodiscard]] bool all_wait() const;
  // Whether a proof is possible: only a message can end any of the waits, and no running process is outside MPI.
  [[nodiscard]] bool can_be_proven() const;
  // Every rank in MPI has answered the current question.
  [[nodiscard]] bool all_answered() const;
  [[nodiscard]] std::uint64_t total_progress() const;
  [[nodiscard]] std::vector<std::string> describe(sim::BoardStall what) const;
  [[nodiscard]] std::string describe_cycle() const;
  // "rank 1 has ended", "ranks 1, 2 have ended"; empty if none has.
  [[nodiscard]] std::string ranks_ended() const;
  // The only rank for which `rank` waits; -1: there may be several.
  [[nodiscard]] std::int32_t only_peer(std::uint32_t rank) const;

  const sim::Board& board_;
  std::int64_t after_ns_;
  std::function<bool(std::uint32_t)> has_ended_;
  NameLocation name_location_;
  // The sum of all ranks' progress, and the time since which it has not changed; -1: not yet observed.
  std::uint64_t progress_ = 0;
  std::int64_t since_ns_ = -1;
  // The question was published for the current stall.
  bool asked_ = false;
  sim::BoardStall reported_ = sim::BoardStall::none;
};

}  // namespace margay::command
