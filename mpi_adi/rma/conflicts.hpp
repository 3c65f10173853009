// The detection of conflicting accesses to one memory (MPI 4.0, 12.7), for --check-rma: a table of accesses that are
// not complete, and a comparison of each new access with them. Pure; independent of windows.
//
// 1. An access is in the table from its announcement, for which its call waits, until its completion is reported here.
//    Each call that completes the access (flush, unlock, MPI_Win_complete of a read) reports the completion before it
//    returns to the program.
// 2. So of two accesses that are in the table together, neither was complete before the other's call began, and no
//    message of the program can have ordered them. No correct program is reported.
// 3. Accesses of a fence's epoch stay a little longer, until the target has left the fence. If one of two accesses is
//    in a fence's epoch, the two are compared only if their origins had called the same number of fences.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "sim/base/source_lines.hpp"

namespace margay::mpi_adi {

// The kinds of accesses that the conflict rules distinguish.
enum class AccessKind : std::uint8_t { put, get, accumulate };
// The kinds of epochs that allow an access.
enum class EpochKind : std::uint8_t { fence, exposure, passive };
// The operations that concurrent accumulates may mix by a window's hints (accumulate_ops).
enum class MixedOps : std::uint8_t { none, no_op, any };

// One access, as its origin describes it. Its 80 bytes are sent unchanged, so the size is asserted below.
struct AnnouncedAccess {
  std::uint64_t number = 0;               // the number that the origin gave it in this window
  std::int32_t origin = 0;                // rank in the window
  std::int32_t op = MPI_OP_NULL;          // of an accumulate; MPI_OP_NULL: compare and swap
  std::int32_t type = MPI_DATATYPE_NULL;  // the one type of the target's elements; null: several types
  std::uint32_t fences = 0;               // calls of MPI_Win_fence before it
  AccessKind kind = AccessKind::put;
  EpochKind epoch = EpochKind::passive;
  MixedOps mixed_ops = MixedOps::no_op;
  bool ordered = true;           // performed in order with this origin's other accumulates (accumulate_ordering)
  bool ends_alone = false;       // may be complete before its origin reports it, for example a read with a request
  char call[31] = {};            // the function's name
  sim::SourceLocation location;  // its call in the program

  // Whether the access only reads the target's memory.
  [[nodiscard]] bool reads() const {
    return kind == AccessKind::get || (kind == AccessKind::accumulate && op == MPI_NO_OP);
  }
};
static_assert(sizeof(AnnouncedAccess) == 80);

// Bytes of the target's memory, the end excluded: offsets in a window, or addresses.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The reason why two accesses conflict: overlap with a put or get, operations that may not mix, different types.
enum class Clash : std::uint8_t { none, memory, operations, types };

// Compares two accesses. Requires: they overlap, and neither is complete.
[[nodiscard]] Clash clash_of(const AnnouncedAccess& first, const AnnouncedAccess& second);

// Two conflicting accesses, and the pieces of each that overlap. Its bytes are sent unchanged.
struct Conflict {
  AnnouncedAccess first;
  ByteRange first_range;  // the two pieces that overlap
  ByteRange second_range;
  Clash clash = Clash::none;
};

// The accesses to one memory that are not complete. add() takes time in proportion to the kept ranges that begin near
// the new ranges. The end functions visit all kept ranges.
class ConflictTable {
 public:
  // The most ranges that are kept, for all accesses together; they take some 140 MiB. Further ranges are compared, but
  // not kept.
  static constexpr std::size_t kRangesMax = std::size_t{1} << 20;

  // Compares an access with those kept, and keeps it if there is no conflict. One access may be added in several steps.
  // Returns the first conflict.
  [[nodiscard]] std::optional<Conflict> add(const AnnouncedAccess& access, std::span<const ByteRange> ranges);
  // end_reads() removes an origin's reads outside of fences; end_all() also its other accesses in passive epochs;
  // end_access() the access with this number.
  void end_reads(std::int32_t origin);
  void end_all(std::int32_t origin);
  void end_access(std::int32_t origin, std::uint64_t number);
  // Removes all accesses of an origin that is lost.
  void end_accesses_of_lost(std::int32_t origin);
  // Called by the target: end_exposure() at MPI_Win_wait, and end_fence() at a fence. end_fence() removes the accesses
  // of earlier epochs: those before which their origins had called fewer than `fences` fences.
  void end_exposure();
  void end_fence(std::uint32_t fences);
  // Kept ranges, of all accesses together; at most kRangesMax.
  [[nodiscard]] std::size_t ranges() const { return kept_.size(); }

 private:
  // One range of an access; an access of several pieces has several.
  struct Kept {
    std::uint64_t end = 0;
    AnnouncedAccess access;
  };
  std::multimap<std::uint64_t, Kept> kept_;  // by a range's first byte
  // The longest range since the table was empty. So a kept range that overlaps another range begins at most so many
  // bytes before it.
  std::uint64_t longest_ = 0;
};

// The messages of --check-rma.
//
// Each access is announced at its target before it begins. Its completion is reported there before the call that
// completes it returns. Both messages are window requests, even if the access itself uses another method. Only the
// target gets messages about the accesses of all origins, and its device answers while its program computes. The answer
// to the second of two conflicting accesses names the first. An exchange of lists of accesses at each synchronisation
// would cost less, but would be too late: for passive epochs such lists cannot show which access was complete before
// another.

// The accesses that a report of completion covers.
enum class Completed : std::int32_t {
  reads,       // at the origin: MPI_Win_flush_local
  all,         // at the target, too
  one_access,  // a read, by its request
};

// Both tables of one window on this rank, and the counts that number its accesses.
struct WindowCheck {
  // Whether a target still keeps accesses of this origin: reads, and others.
  struct Open {
    bool reads = false;
    bool others = false;
  };

  ConflictTable announced;  // as a target: accesses to the window's memory
  // As an origin: this process's memory, by address, that is the buffer of accesses under way. An access that reads the
  // memory has kind get, one that writes it has kind put. AnnouncedAccess::origin is the target's rank here.
  ConflictTable buffers;
  // Calls of MPI_Win_fence on this window so far.
  std::uint32_t fences = 0;
  // The latest number of an access; numbers begin at 1.
  std::uint64_t last_number = 0;
  std::uint32_t lines = 0;  // lines printed
  std::vector<Open> open;   // by target
};

}  // namespace margay::mpi_adi
