// A hash index over the entries of a chain: it finds the earliest entry that accepts a header without examining the
// others. A search costs one hash lookup per shape in use. A shape is the set of fields that criteria compare
// (MatchShape in portals/base/key_table). Internal to portals.
//
// Invariants:
//   1. Each shape has a queue for each key (the values of the compared fields). Each entry in the index is on the queue
//      of its shape and key, and each queue is in list order.
//   2. Hence a header has one queue under each shape. The first entry of that queue is the earliest of its shape that
//      accepts the header, and the earliest of these first entries is the earliest of all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/key_table.hpp"
#include "portals/match/match_entry.hpp"

namespace margay::portals {

// The index of one chain. It does not own entries. It links them through fields of the entries, so inserting allocates
// only for a new key or shape.
class MatchIndex {
 public:
  // Constant time at either end of the entry's queue; about the square root of the chain's length in between. Requires:
  // the entry is chained, its order is set, and it is in no index.
  void insert(MatchEntry& entry);
  // Constant time. Requires: the entry is in this index, with the criteria with which it was inserted.
  void erase(MatchEntry& entry);
  // Whether the index has no entry; its tables may still be allocated.
  [[nodiscard]] bool empty() const { return entries_ == 0; }
  // Forgets all entries and frees memory. The entries' own marks and links stay as they are; the caller resets them.
  void clear();

 private:
  // The entries of one shape: a queue for each key.
  struct Shape {
    MatchShape shape;
    // Entries on all queues of this shape; 0: a spare shape, which scans skip.
    std::size_t entries = 0;
    KeyTable<MatchEntry*, nullptr> queues;
  };
  using Ends = KeyTable<MatchEntry*, nullptr>::Ends;
  // While there are more shapes than this, a shape is removed when its last entry leaves. Otherwise its empty table is
  // kept, because a program uses the same shapes again.
  static constexpr std::size_t kSpareShapes = 8;

 public:
  // A cursor over the entries that accept one header, in list order. Entries may be erased once the scan has passed
  // them; others must stay while the scan lives. Requires: index and header outlive it.
  class Scan {
   public:
    // Costs a hash lookup for each shape that has entries; allocates only for more than kInline shapes.
    Scan(const MatchIndex& index, const Header& header);
    // The earliest accepting entry whose order is at least `from`; nullptr when there is none. While `from` grows from
    // call to call, the cost is one step per queue, and one per entry that is passed; a smaller `from` restarts the
    // scan.
    [[nodiscard]] MatchEntry* first_from(std::uint64_t from);

   private:
    // The number of cursors that are stored without allocation. It suffices, because MPI's entries have few shapes (a
    // source or any, a tag or any).
    static constexpr std::size_t kInline = 8;
    // Sets each cursor to the first entry of its queue.
    void restart();
    [[nodiscard]] MatchEntry*& cursor(std::size_t at) { return at < kInline ? few_[at] : more_[at - kInline]; }

    const MatchIndex& index_;
    const Header& header_;
    std::uint64_t from_ = 0;
    std::size_t cursors_ = 0;
    // The candidates, one for each queue; the first kInline here, the others in `more_`. nullptr: the queue is passed.
    std::array<MatchEntry*, kInline> few_;
    std::vector<MatchEntry*> more_;
  };

 private:
  // The entries of a shape, which is added when it is new.
  [[nodiscard]] Shape& obtain(const MatchShape& wanted);
  // The entry after which `entry` belongs on its queue.
  [[nodiscard]] static MatchEntry* predecessor(const MatchEntry& entry, const Ends& queue, const MatchShape& shape);

  std::vector<Shape> shapes_;
  std::size_t entries_ = 0;
};

}  // namespace margay::portals
