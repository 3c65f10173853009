// Sees that a job makes no progress although every rank waits, and says who waits for whom. Reads the board only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::sim {

class StallDetector {
 public:
  // Every initialised and unfinished rank has reported a long wait, and nothing changes for another `after_ns`: a
  // stall.
  StallDetector(const Board& board, std::int64_t after_ns) : board_(board), after_ns_(after_ns) {}

  // Call about once a second. The report's lines, once for each stall; empty otherwise. `some_stopped`: a rank is
  // stopped by a signal; what it last said of its wait is no longer true, and the others wait for it.
  [[nodiscard]] std::vector<std::string> look(std::int64_t now_ns, bool some_stopped = false);

 private:
  [[nodiscard]] bool all_wait() const;
  [[nodiscard]] std::uint64_t total_progress() const;
  [[nodiscard]] std::vector<std::string> describe() const;
  [[nodiscard]] std::string describe_cycle() const;

  const Board& board_;
  std::int64_t after_ns_;
  std::uint64_t progress_ = 0;
  std::int64_t since_ns_ = -1;
  bool reported_ = false;
};

}  // namespace margay::sim
