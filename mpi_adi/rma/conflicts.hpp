// Which accesses to one memory conflict (MPI 4.0, 12.7), for --check-rma: the accesses that are not complete, and a
// look at them for each new one. Pure; knows no window.
//
// 1. An access is here from its announcement, which its call waits for, until it is certain that nobody has been told
//    that it is complete: whoever completes it (flush, unlock, MPI_Win_complete of a read) says so here first, and
//    returns afterwards.
// 2. So two accesses that are here together overlap in time, and neither's completion is before the other's call:
//    whatever messages a program orders its accesses by, it has not ordered these. None is told by mistake.
// 3. Accesses of a fence's epoch are here a little longer, until the target has left the fence. They are compared with
//    those of who has called as many fences only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "sim/base/source_lines.hpp"

namespace margay::mpi_adi {

enum class AccessKind : std::uint8_t { put, get, accumulate };
enum class EpochKind : std::uint8_t { fence, exposure, passive };
// What of accumulates a window's hints leave to programs (accumulate_ops).
enum class MixedOps : std::uint8_t { none, no_op, any };

// One access as its origin tells it; it travels as it is.
struct AnnouncedAccess {
  std::uint64_t number = 0;               // of the origin's accesses to the window
  std::int32_t origin = 0;                // rank in the window
  std::int32_t op = MPI_OP_NULL;          // of an accumulate; MPI_OP_NULL: compare and swap
  std::int32_t type = MPI_DATATYPE_NULL;  // of the target's elements, all of one; null: of several
  std::uint32_t fences = 0;               // calls of MPI_Win_fence before it
  AccessKind kind = AccessKind::put;
  EpochKind epoch = EpochKind::passive;
  MixedOps mixed_ops = MixedOps::no_op;
  bool ordered = true;      // with this origin's other accumulates (accumulate_ordering)
  bool ends_alone = false;  // may be complete before its origin has said so: a read with a request
  char call[31] = {};       // the function's name,
  sim::SourcePlace place;   // and where the program calls it

  // Of the target's memory.
  [[nodiscard]] bool reads() const {
    return kind == AccessKind::get || (kind == AccessKind::accumulate && op == MPI_NO_OP);
  }
};
static_assert(sizeof(AnnouncedAccess) == 80);

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Why two accesses may not meet.
enum class Clash : std::uint8_t { none, memory, operations, types };

// Requires: they overlap, and neither is complete.
[[nodiscard]] Clash clash_of(const AnnouncedAccess& first, const AnnouncedAccess& second);

struct Conflict {
  AnnouncedAccess first;
  ByteRange first_range;  // the pieces that meet
  ByteRange second_range;
  Clash clash = Clash::none;
};

class ConflictTable {
 public:
  // Ranges that are kept at most, by all accesses: 120 MiB. Later ones are compared and not kept.
  static constexpr std::size_t kRangesMax = std::size_t{1} << 20;

  // Pieces of one access may come one after another. What conflicts is not kept.
  [[nodiscard]] std::optional<Conflict> add(const AnnouncedAccess& access, std::span<const ByteRange> ranges);
  // Of an origin: its reads of passive epochs and of MPI_Win_start's are complete; then all of its passive epochs, too.
  void end_reads(std::int32_t origin);
  void end_all(std::int32_t origin);
  void end_access(std::int32_t origin, std::uint64_t number);
  // The origin is no more.
  void end_lost(std::int32_t origin);
  // As a target: MPI_Win_wait; a fence, after `fences` calls.
  void end_exposure();
  void end_fence(std::uint32_t fences);
  [[nodiscard]] std::size_t ranges() const { return kept_.size(); }

 private:
  struct Kept {
    std::uint64_t end = 0;
    AnnouncedAccess access;
  };
  std::multimap<std::uint64_t, Kept> kept_;  // by a range's first byte
  std::uint64_t longest_ = 0;                // range that was ever kept
};

// --check-rma: what a window keeps for it, as a target and as an origin.
//
// Each access is announced at its target before it begins, and its completion before the call that completes it
// returns: by asks that are answered, whichever way the access itself takes. The target is where accesses of all
// origins meet, its device answers while it computes, and the answer names the first of the two at the second's call.
// Lists that origins send when they synchronise would cost less and come too late: of passive epochs they cannot say
// what was complete before what.

enum class Completed : std::int32_t {
  reads,       // here: MPI_Win_flush_local
  all,         // there, too
  one_access,  // a read, whose request says so
};

struct WindowCheck {
  // What of this origin's a target still has.
  struct Open {
    bool reads = false;
    bool others = false;
  };

  ConflictTable announced;  // as a target
  // As an origin: its own memory, by address, that accesses read (kind: get) or write (kind: put) and that is not its
  // own again. `origin` is the target.
  ConflictTable buffers;
  std::uint32_t fences = 0;
  std::uint64_t last_number = 0;
  std::uint32_t lines = 0;  // printed
  std::vector<Open> open;   // by target
};

}  // namespace margay::mpi_adi
