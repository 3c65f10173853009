// A window: memory that the members of a group expose to each other's puts, gets and accumulates (MPI 4.0, chapter 12;
// paper 001, section 4). Passive, but for what it counts.
//
// A window has a communicator of its own: the context that its messages are told by, the error handler, attributes and
// name. To the program only the window's handle is known; the communicator carries it (Communicator::handle), so that
// whoever raises an error or calls an attribute's function hands the window's handle over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/info.hpp"
#include "mpi_adi/rma/target_memory.hpp"
#include "portals/match/match_entry.hpp"
#include "portals/memory/block.hpp"
#include "sim/shm/window_counters.hpp"
#include "sim/shm/window_lock.hpp"
#include "sim/wire/shm/peer_memory.hpp"

namespace margay::mpi_adi {

// Counts what is under way to a target, so that a wait takes what was begun before it and not what other threads of the
// rank begin meanwhile. Each has a generation; a wait begins a new one as soon as the one before the last is over, so
// two counters are enough, and a wait sees two of them end at most.

class UnderWay {
 public:
  [[nodiscard]] bool none() const { return (counts_[0] | counts_[1]) == 0; }
  // The generation that end() is to be given.
  [[nodiscard]] std::uint32_t begin() {
    ++counts_[generation_ % 2];
    return generation_;
  }
  void end(std::uint32_t generation) { --counts_[generation % 2]; }

  // A wait's beginning, ...
  [[nodiscard]] std::uint32_t now() const { return generation_; }
  // ... and whether what was under way then is over. Asked again and again until it is.
  [[nodiscard]] bool over(std::uint32_t then) {
    if (none()) return true;
    if (generation_ == then) {
      if (counts_[(then + 1) % 2] != 0) return false;
      ++generation_;
    }
    // The next generation but one began because this one was over.
    return generation_ - then > 1 || counts_[then % 2] == 0;
  }

 private:
  std::uint32_t generation_ = 0;
  std::array<std::uint32_t, 2> counts_{};  // of the last generation and the one before
};

// What a member keeps for the others of a window, in memory that those of its node have mapped where there is such
// memory: its lock, and the counts of its epochs. Who cannot reach it sends messages, and the member's device does it
// in the sender's name: there is one lock, whichever way it is asked for.
//
//   WindowLockData | a slot for each member | counts of posts to this member | counts of completions here

class WindowControl {
 public:
  WindowControl() = default;
  // `memory`: bytes_for(members), zero at first, at the beginning of a cache line.
  WindowControl(std::byte* memory, std::size_t members) : memory_(memory), members_(members) {}
  [[nodiscard]] static std::size_t bytes_for(std::size_t members) {
    return sizeof(sim::WindowLockData) + members * (sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
  }
  [[nodiscard]] bool here() const { return memory_ != nullptr; }

  // `id`, `gone`: of the process that calls (sim/shm/holder_lock).
  [[nodiscard]] sim::WindowLock lock(std::uint32_t id, sim::HolderGone gone) const {
    return {*reinterpret_cast<sim::WindowLockData*>(memory_), slots(), id, gone};
  }
  // posts().publish(target): target exposes itself to this member. completions().publish(origin): origin is done here.
  [[nodiscard]] sim::WindowCounters posts() const { return sim::WindowCounters(row(0)); }
  [[nodiscard]] sim::WindowCounters completions() const { return sim::WindowCounters(row(1)); }

 private:
  [[nodiscard]] std::span<std::uint64_t> slots() const {
    return {reinterpret_cast<std::uint64_t*>(memory_ + sizeof(sim::WindowLockData)), members_};
  }
  [[nodiscard]] std::span<std::uint32_t> row(std::size_t which) const {
    std::byte* const rows = memory_ + sizeof(sim::WindowLockData) + members_ * sizeof(std::uint64_t);
    return {reinterpret_cast<std::uint32_t*>(rows) + which * members_, members_};
  }

  std::byte* memory_ = nullptr;
  std::size_t members_ = 0;
};

struct WindowCheck;

// How this process reaches a member's memory.
// Numbers are those of traces and of the job board.
enum class WindowWay : std::uint8_t {
  direct,   // it is this process's, or is mapped here
  process,  // the operating system copies between the processes
  message,  // messages to its put and get portals
};
inline constexpr std::size_t kWindowWays = 3;
// "direct", "process", "message".
[[nodiscard]] constexpr std::string_view name(WindowWay way) {
  constexpr std::array<std::string_view, kWindowWays> kNames = {"direct", "process", "message"};
  const auto index = static_cast<std::size_t>(way);
  return index < kNames.size() ? kNames[index] : "unknown";
}
// For a reader: "process memory".
[[nodiscard]] const char* words_of(WindowWay way);

// The kinds of access epochs at an origin, for one target or for all.
enum class LockKind : std::uint8_t { none, shared, exclusive };

// What an origin knows of a member and has under way there.
struct WindowTarget {
  WindowWay way = WindowWay::message;
  std::uint32_t world_rank = 0;
  std::uint32_t local_rank = 0;     // on this node; of the ways direct and process
  std::byte* base = nullptr;        // direct: where the window's memory begins here; process: there, never dereferenced
  bool writable = false;            // process: all of it may be read and written
  std::uint64_t bytes = 0;          // of the window; of a dynamic one all addresses
  std::uint64_t unit = 1;           // bytes of a displacement's step
  sim::PeerMemory* peer = nullptr;  // of the way process, once it was reached that way; the device's
  WindowControl control;            // its lock and counts, where they are mapped here
  // Messages: those whose origin memory is not free yet, answers that have not come, and whether there are puts behind
  // which no flush has gone.
  UnderWay sending;
  UnderWay awaited;
  bool unflushed = false;
  std::uint32_t reads = 0;      // of the answers: those that bring what was read there
  std::uint32_t described = 0;  // as a target: bodies of this member's that it described, and that have not come
  // The passive epoch of this origin, and whether its lock was granted.
  LockKind lock = LockKind::none;
  bool locked = false;
  bool lock_asked = false;  // not with MPI_MODE_NOCHECK
  // Active epochs: how many of its posts to this process MPI_Win_start has used, how many of its completions
  // MPI_Win_wait.
  std::uint32_t started = 0;
  std::uint32_t waited = 0;
  bool in_start = false;  // of the access epoch that MPI_Win_start began
};

struct Window {
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle = MPI_WIN_NULL;
  Communicator* communicator = nullptr;  // its own
  MPI_Comm communicator_handle = MPI_COMM_NULL;
  bool by_messages = false;  // paper 001's own: messages to oneself, too, and one for each block
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  void* base = nullptr;  // this process's memory
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  int unit_int = 1;          // MPI_WIN_DISP_UNIT's value has an address
  bool owns_memory = false;  // base is of the rank's memory, and goes with the window
  Info info;
  std::vector<WindowTarget> targets;

  // Epochs. A fence opens one that is used by the first access only (MPI 4.0, 12.5.1).
  enum class Fence : std::uint8_t { none, open, used };
  Fence fence = Fence::none;
  bool lock_all = false;
  bool lock_all_unchecked = false;  // with MPI_MODE_NOCHECK
  std::uint32_t locks = 0;          // targets with a lock, lock_all aside
  bool starts = false;              // between MPI_Win_start and MPI_Win_complete
  std::vector<int> start_group;
  std::vector<int> post_group;    // of the exposure epoch; empty after MPI_Win_wait
  bool exposes = false;           // between MPI_Win_post and MPI_Win_wait
  int error_class = MPI_SUCCESS;  // of accesses that ended badly, for the next synchronisation
  std::string error_words;

  // With --check-rma; shared so that its type need not be known here.
  std::shared_ptr<WindowCheck> check;

  // As a target.
  TargetMemory memory;
  WindowControl control;
  void* control_memory = nullptr;  // of the rank's memory
  std::vector<int> waiting;        // members that asked for the lock by messages and have not got it
  // Figure 11: an entry of the put portal and one of the get portal, over one memory.
  std::unique_ptr<portals::SingleBlock> put_block;
  std::unique_ptr<portals::SingleBlock> get_block;
  portals::MatchEntry put_entry;
  portals::MatchEntry get_entry;

  [[nodiscard]] int rank() const { return communicator->rank(); }
  [[nodiscard]] int members() const { return communicator->size(); }
  [[nodiscard]] WindowTarget& target(int rank) { return targets[static_cast<std::size_t>(rank)]; }
};

}  // namespace margay::mpi_adi
