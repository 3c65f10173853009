// A window: memory that the members of a group expose to each other's puts, gets and accumulates (MPI 4.0, chapter 12;
// paper 001, section 4). Data, apart from its counters.
//
// A window has a communicator of its own, which supplies the context of its messages, the error handler, the attributes
// and the name. The program has only the window's handle, which is stored in Communicator::handle. So code that raises
// an error or calls an attribute's function passes the window's handle to the program.
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

// A counter of operations under way to a target. A wait covers the operations that began before the wait, and is not
// prolonged by operations that other threads of the rank begin meanwhile. Each operation belongs to a generation. A
// wait begins a new generation as soon as the previous generation has ended. So at most two generations are under way,
// for which two counters suffice, and a wait lasts until at most two generations have ended.

class OperationCounter {
 public:
  // Whether nothing is under way. One test, because most waits find nothing.
  [[nodiscard]] bool none() const { return (counts_[0] | counts_[1]) == 0; }
  // Counts an operation; returns the generation to pass to end().
  [[nodiscard]] std::uint32_t begin() {
    ++counts_[generation_ % 2];
    return generation_;
  }
  // Counts an operation's end. Requires: begin() returned `generation`.
  void end(std::uint32_t generation) { --counts_[generation % 2]; }

  // The present generation, which a wait reads at its begin and passes to over().
  [[nodiscard]] std::uint32_t now() const { return generation_; }
  // Whether all operations that were under way at `then` have ended. Polled until it is true.
  [[nodiscard]] bool over(std::uint32_t then) {
    if (none()) return true;
    if (generation_ == then) {
      if (counts_[(then + 1) % 2] != 0) return false;
      ++generation_;
    }
    // The second generation after `then` begins only when `then` has ended.
    return generation_ - then > 1 || counts_[then % 2] == 0;
  }

 private:
  std::uint32_t generation_ = 0;
  std::array<std::uint32_t, 2> counts_{};  // of the present generation and the one before it
};

// A member's lock and counts of epochs, in memory that the processes of the member's node have mapped, if the node
// shares memory. Origins without the mapping send messages, and the member's device uses the same lock for them.
//
//   WindowLockData | a slot for each member | counts of posts to this member | counts of completions here

// A view of that memory; trivially copyable, owns nothing.
class WindowControl {
 public:
  WindowControl() = default;
  // `memory`: bytes_for(members) bytes, zero at first, aligned to a cache line.
  WindowControl(std::byte* memory, std::size_t members) : memory_(memory), members_(members) {}
  // The bytes of the memory for a window of `members`.
  [[nodiscard]] static std::size_t bytes_for(std::size_t members) {
    return sizeof(sim::WindowLockData) + members * (sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
  }
  // Whether the memory is mapped here.
  [[nodiscard]] bool here() const { return memory_ != nullptr; }

  // The lock. `id`, `is_dead`: the calling process, and its test for lost holders (sim/shm/holder_lock).
  [[nodiscard]] sim::WindowLock lock(std::uint32_t id, sim::HolderDeathTest is_dead) const {
    return {*reinterpret_cast<sim::WindowLockData*>(memory_), slots(), id, is_dead};
  }
  // Counters by member. posts().publish(target): the target exposes its window to this member.
  // completions().publish(origin): the origin's accesses here are complete.
  [[nodiscard]] sim::WindowCounters posts() const { return sim::WindowCounters(counters(0)); }
  [[nodiscard]] sim::WindowCounters completions() const { return sim::WindowCounters(counters(1)); }

 private:
  // The lock's slot of each member, behind the lock.
  [[nodiscard]] std::span<std::uint64_t> slots() const {
    return {reinterpret_cast<std::uint64_t*>(memory_ + sizeof(sim::WindowLockData)), members_};
  }
  // The counts of posts (0) and of completions (1).
  [[nodiscard]] std::span<std::uint32_t> counters(std::size_t which) const {
    std::byte* const all = memory_ + sizeof(sim::WindowLockData) + members_ * sizeof(std::uint64_t);
    return {reinterpret_cast<std::uint32_t*>(all) + which * members_, members_};
  }

  // The first byte of the lock; nullptr if this process has not mapped the memory.
  std::byte* memory_ = nullptr;
  std::size_t members_ = 0;
};

struct WindowCheck;

// The method of access to a member's memory. Traces and the job board contain these numbers.
enum class WindowMethod : std::uint8_t {
  direct,   // loads and stores: it is this process's memory, or is mapped here
  process,  // the operating system copies between the processes
  message,  // messages to its put and get portals
};
// Number of methods.
inline constexpr std::size_t kWindowMethods = 3;
// The method's name: "direct", "process", "message".
[[nodiscard]] constexpr std::string_view name(WindowMethod method) {
  constexpr std::array<std::string_view, kWindowMethods> kNames = {"direct", "process", "message"};
  const auto index = static_cast<std::size_t>(method);
  return index < kNames.size() ? kNames[index] : "unknown";
}
// The method's name in reports, such as "process memory".
[[nodiscard]] const char* method_name(WindowMethod method);

// The kinds of passive epochs at an origin (MPI 4.0, 12.5.3).
enum class LockKind : std::uint8_t { none, shared, exclusive };

// An origin's view of a member, and its accesses under way there.
struct WindowTarget {
  WindowMethod method = WindowMethod::message;
  std::uint32_t world_rank = 0;
  // The member's number on this node. Valid only with the methods direct and process, or if `control` is mapped here.
  std::uint32_t local_rank = 0;
  // direct: the window's memory, mapped here. process: the memory's address in the other process, never dereferenced
  // here.
  std::byte* base = nullptr;
  bool writable = false;            // process: all of it may be read and written
  std::uint64_t bytes = 0;          // the window's size; for a dynamic window all addresses
  std::uint64_t unit = 1;           // bytes of one step of a displacement
  sim::PeerMemory* peer = nullptr;  // process: the access to the other process, set at the first use; Rma owns it
  WindowControl control;            // the member's lock and counts, if they are mapped here
  // Operations by messages that are under way.
  OperationCounter sending;     // messages that refer to the origin's memory
  OperationCounter awaited;     // answers that have not arrived
  bool unflushed = false;       // puts were sent that no flush has followed
  std::uint32_t reads = 0;      // awaited answers that carry bytes of the target's memory
  std::uint32_t described = 0;  // as a target: described bodies of this member that have not arrived
  // This origin's passive epoch. The lock is requested at once, and granted later.
  // The kind of lock of MPI_Win_lock; none with MPI_Win_lock_all.
  LockKind lock = LockKind::none;
  // Set when the lock is granted: by a message, or found in the shared memory by Rma::has_lock().
  bool locked = false;
  bool lock_requested = false;  // false with MPI_MODE_NOCHECK
  // Active epochs: the number of this member's posts that MPI_Win_start has consumed, and of its completions that
  // MPI_Win_wait has consumed.
  std::uint32_t started = 0;
  std::uint32_t waited = 0;
  bool in_start = false;  // a target of MPI_Win_start's epoch
};

// One window on this rank. collectives/comm/window makes and deletes it; the rank's table of windows
// (mpi_adi/rank/handles) and Rma refer to it. Under the process lock.
struct Window {
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Its identity, for the program and for its messages.
  MPI_Win handle = MPI_WIN_NULL;
  Communicator* communicator = nullptr;  // the window's own
  // The communicator's own handle, while Communicator::handle has the window's.
  MPI_Comm communicator_handle = MPI_COMM_NULL;
  // The interface of 1996: every access is messages, one for each block, even to this process.
  bool by_messages = false;
  // MPI_WIN_CREATE_FLAVOR's value: the call that made the window.
  int flavor = MPI_WIN_FLAVOR_CREATE;
  // MPI_WIN_MODEL's value: the memory has one copy, which loads and accesses both reach (MPI 4.0, 12.4).
  int model = MPI_WIN_UNIFIED;
  void* base = nullptr;  // this process's memory
  MPI_Aint size = 0;     // bytes of it; 0 for a dynamic window
  // Bytes of one step of a displacement here (MPI_Win_create's disp_unit). Members may have different units.
  MPI_Aint unit = 1;
  int unit_int = 1;          // the value of MPI_WIN_DISP_UNIT, which needs an address
  bool owns_memory = false;  // `base` was allocated by the rank, and is freed with the window
  Info info;                 // the hints that the program has given
  // By rank in the window.
  std::vector<WindowTarget> targets;

  // Epochs. A fence opens an epoch that counts as used from its first access on (MPI 4.0, 12.5.1).
  enum class Fence : std::uint8_t { none, open, used };
  Fence fence = Fence::none;
  bool lock_all = false;
  bool lock_all_unchecked = false;  // MPI_MODE_NOCHECK: no lock was requested
  std::uint32_t locks = 0;          // number of targets with a lock, without lock_all
  bool starts = false;              // between MPI_Win_start and MPI_Win_complete
  // Ranks in the window: the targets of MPI_Win_start's epoch.
  std::vector<int> start_group;
  std::vector<int> post_group;    // of the exposure epoch; empty after MPI_Win_wait
  bool exposes = false;           // between MPI_Win_post and MPI_Win_wait
  int error_class = MPI_SUCCESS;  // of the first failed access, for the next synchronisation
  // Describes error_class; usually empty if a peer was lost.
  std::string error_text;

  // With --check-rma, else nullptr; shared, because its type is incomplete here.
  std::shared_ptr<WindowCheck> check;

  // The fields below are for this process as a target.
  TargetMemory memory;
  WindowControl control;
  void* control_memory = nullptr;  // allocated by the rank
  std::vector<int> waiting;        // members that requested the lock by message and do not have it yet
  // Figure 11: an entry of the put portal and an entry of the get portal, over the same memory.
  std::unique_ptr<portals::SingleBlock> put_block;
  std::unique_ptr<portals::SingleBlock> get_block;
  // Listed from Rma::attach() to Rma::detach().
  portals::MatchEntry put_entry;
  portals::MatchEntry get_entry;

  // A window's ranks are the ranks of its communicator.
  [[nodiscard]] int rank() const { return communicator->rank(); }
  [[nodiscard]] int members() const { return communicator->size(); }
  [[nodiscard]] WindowTarget& target(int rank) { return targets[static_cast<std::size_t>(rank)]; }
};

}  // namespace margay::mpi_adi
