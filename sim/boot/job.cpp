#include "sim/boot/job.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <optional>

#include "sim/boot/board.hpp"
#include "sim/boot/last_second.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::sim {
namespace {

void print_abort(std::uint32_t rank, std::string_view message, std::string_view id) {
  static_cast<void>(std::fprintf(stderr, "margay: rank %u aborts: %.*s%s%.*s%s\n", rank,
                                 static_cast<int>(message.size()), message.data(), id.empty() ? "" : " [",
                                 static_cast<int>(id.size()), id.data(), id.empty() ? "" : "]"));
}

// Waits until a pipe's reader has taken everything written, for 0.2 s at most. A launcher that is notified of an abort,
// such as Hydra, may exit before it reads what this rank printed.
void wait_until_read(int descriptor) {
  constexpr int kTries = 200;
  struct stat kind {};
  if (::fstat(descriptor, &kind) != 0 || !S_ISFIFO(kind.st_mode)) return;
  for (int tries = 0; tries < kTries; ++tries) {
    int unread = 0;
    if (::ioctl(descriptor, FIONREAD, &unread) != 0 || unread == 0) return;
    const timespec millisecond{0, 1'000'000};
    static_cast<void>(::nanosleep(&millisecond, nullptr));
  }
}

}  // namespace

void take_world(const Board& board, Job& job) {
  job.first_ranks = board.header().first_ranks;
  const BoardPlace& mine = board.place(job.rank);
  job.world = mine.world;
  job.predecessors = mine.starts > 0 ? mine.starts - 1 : 0;
  job.spawned = mine.world != 0;
  SharedTable::Numbers places;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    const BoardPlace& place = board.place(rank);
    if (place.starts != 0 && place.world == mine.world) places.push_back(rank);
  }
  job.all_ranks = std::move(places);
}

Status leave(Job& job) {
  return job.pmi != nullptr ? job.pmi->finalize() : Status();
}

// Under margay's launcher, the launcher prints the line with the id.
void abort_job(const Job& job, int code, std::string_view message, std::string_view id) {
  const int status = (code & 0xff) != 0 ? code & 0xff : 1;
  // After this rank has signed off, its launcher accepts no more messages, and treats every exit with a status as
  // regular.
  const bool signed_off = job.board_fd < 0 && job.pmi != nullptr && job.pmi->finalized();
  // Under `margay run` the launcher ends a process that hangs.
  std::optional<LastSecond> last;
  if (job.board_fd < 0) last.emplace(signed_off ? LastSecond::kKill : status);
  Board board;
  if (job.board_fd >= 0 && Board::attach(job.board_fd, board).ok()) {
    BoardBlock& block = board.block(job.rank);
    block.abort_code = code;
    set_text(block.message, message);
    if (message.size() >= block.message.size()) print_abort(job.rank, message, "");
    block.state = RankState::aborting;
  } else if (!message.empty() && job.board_fd < 0) {
    print_abort(job.rank, message, id);
    if (job.pmi != nullptr) wait_until_read(STDERR_FILENO);
  }
  // The launcher is notified first, so that the job ends even if flushing blocks on a lock of stdio that an interrupted
  // thread holds.
  if (job.pmi != nullptr && !signed_off) job.pmi->abort(code, message);
  static_cast<void>(std::fflush(nullptr));
  if (signed_off) static_cast<void>(::kill(getpid(), SIGKILL));
  ::_exit(status);
}

}  // namespace margay::sim
