// Sees that a job makes no progress although every rank waits, and says who waits for whom. Reads the board, and writes
// its question.
//
// A stall is seen: every rank inside MPI has reported a long wait, and for a while nothing has moved. A deadlock is
// proven: after that moment the launcher asked, and each rank has looked at all its wires since and found nothing,
// while nothing moved anywhere. So no message is under way, nobody computes (a rank that is stopped, or has no
// processor, does not answer), and nothing but a message can end any of the waits. Not proven, however true: waits of a
// rank with MPI_THREAD_MULTIPLE or a request that the program completes, and while a rank is outside MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command/run/report/report.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// What the rank waits for, in words; without, and with what lies with it. Requires: it has reported a long wait.
[[nodiscard]] std::string describe_wanted(const sim::BoardBlock& block);
[[nodiscard]] std::string describe_wait(const sim::BoardBlock& block);

class StallDetector {
 public:
  // Every initialised and unfinished rank has reported a long wait, and nothing changes for another `after_ns`: a
  // stall. `has_ended`: whether the rank's process is gone. `name_place` may be empty.
  StallDetector(const sim::Board& board, std::int64_t after_ns, std::function<bool(std::uint32_t)> has_ended,
                NamePlace name_place = {})
      : board_(board), after_ns_(after_ns), has_ended_(std::move(has_ended)), name_place_(std::move(name_place)) {}

  // Call about once a second. The report's lines, once for each stall and once more when it is proven; empty otherwise.
  // `some_stopped`: a rank is stopped by a signal; what it last said of its wait is no longer true, and the others wait
  // for it.
  // What it has told stands in the board's header until something moves.
  [[nodiscard]] std::vector<std::string> look(std::int64_t now_ns, bool some_stopped = false);
  // The latest look has proven that no rank can go on.
  [[nodiscard]] bool deadlock() const { return told_ == sim::BoardStall::kDeadlock; }

 private:
  void tell(sim::BoardStall what);
  [[nodiscard]] bool all_wait() const;
  [[nodiscard]] bool may_be_proven() const;
  [[nodiscard]] bool all_answered() const;
  [[nodiscard]] std::uint64_t total_progress() const;
  [[nodiscard]] std::vector<std::string> describe(sim::BoardStall what) const;
  [[nodiscard]] std::string describe_cycle() const;
  // The rank that this one waits for, and for no other; -1: there may be several.
  [[nodiscard]] std::int32_t only_peer(std::uint32_t rank) const;

  const sim::Board& board_;
  std::int64_t after_ns_;
  std::function<bool(std::uint32_t)> has_ended_;
  NamePlace name_place_;
  std::uint64_t progress_ = 0;
  std::int64_t since_ns_ = -1;
  bool asked_ = false;
  sim::BoardStall told_ = sim::BoardStall::kNone;
};

}  // namespace margay::command
