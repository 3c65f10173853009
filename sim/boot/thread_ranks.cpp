#include "sim/boot/thread_ranks.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/base/limits.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/parse.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// Parses a variable of the launcher's; false: it is not set, or is not a number.
template <typename Integer>
bool number_of(const char* name, Integer& out) {
  const char* const text = std::getenv(name);
  return text != nullptr && parse_number(std::string_view(text), out);
}

}  // namespace

Status ranks_of_process(std::uint32_t& out) {
  out = 1;
  // Without the job board the variable is a remnant of another job.
  const char* const text = std::getenv("MARGAY_THREADS");
  if (text == nullptr || std::getenv("MARGAY_BOARD_FD") == nullptr) return {};
  if (parse_number(std::string_view(text), out) && out >= 1 && out <= kThreadRanksMax) return {};
  out = 1;
  return Status::error(std::string("MARGAY_THREADS=") + text +
                       " is not the number that a launcher puts there, from 1 to " + std::to_string(kThreadRanksMax) +
                       "; unset it, or start the program with `margay run --threads`");
}

// A rank that never began MPI has not mapped the board, so this function maps it.
void thread_rank_ended(std::uint32_t thread_rank, int status) {
  int descriptor = -1;
  std::uint32_t first = 0;
  Board board;
  if (!number_of("MARGAY_BOARD_FD", descriptor) || !number_of("MARGAY_RANK", first)) return;
  // A program may have closed the descriptor. Its rank then counts as running until the process ends.
  if (!Board::attach(descriptor, board).ok() || first + thread_rank >= board.size()) return;
  BoardBlock& block = board.block(first + thread_rank);
  block.thread_status = status;
  publish_number(block.thread_ended, 1);
}

}  // namespace margay::sim
