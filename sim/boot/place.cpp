#include "sim/boot/place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "sim/base/process_identity.hpp"
#include "sim/shm/publish_once.hpp"

namespace margay::sim {

using portals::Status;

Status place_is_taken(std::int32_t holder) {
  const std::string who = holder == 0            ? "another process"
                          : holder == ::getpid() ? "this process"
                                                 : "process " + std::to_string(holder);
  return Status::error(who +
                       " has taken this rank's place before; a rank is one MPI program in one process: give each "
                       "program a `margay run` of its own");
}

Status take_place_on_board(const Board& board, std::uint32_t rank) {
  BoardBlock& block = board.block(rank);
  if (const std::int32_t holder = take_place(block.pid, ::getpid()); holder != 0) return place_is_taken(holder);
  block.start_ticks = own_process().start_ticks;
  return {};
}

Status take_place_on_connection(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_SETLK, &lock) == 0) return {};
  // Where such a thing cannot be locked nothing is known.
  if (errno != EAGAIN && errno != EACCES) return {};
  if (::fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) lock.l_pid = 0;
  return place_is_taken(lock.l_pid > 0 ? lock.l_pid : 0);
}

}  // namespace margay::sim
