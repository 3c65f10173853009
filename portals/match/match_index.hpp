// Finds the earliest entry of a chain that accepts a header without looking at the others. Internal to portals.
//
// Invariants:
//   1. Each entry in the index is on the queue of its key under its shape, and each queue is in list order.
//   2. Hence the first entry of the header's queue under each shape is the earliest of that shape that accepts it,
//      and the earliest of these is the earliest of all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/key_table.hpp"
#include "portals/match/match_entry.hpp"

namespace margay::portals {

class MatchIndex {
 public:
  // Requires: the entry is chained, its order is set, and it is in no index.
  void insert(MatchEntry& entry);
  // Requires: the entry is in this index.
  void erase(MatchEntry& entry);
  [[nodiscard]] bool empty() const { return entries_ == 0; }
  // The entries are the caller's to mark.
  void clear();

 private:
  struct Shape {
    MatchShape shape;
    std::size_t entries = 0;
    KeyTable<MatchEntry*, nullptr> queues;
  };
  using Ends = KeyTable<MatchEntry*, nullptr>::Ends;
  // Shapes without entries that are kept for those to come.
  static constexpr std::size_t kSpareShapes = 8;

 public:
  // The accepting entries of one header, in list order. An entry may be erased once the scan has gone past it; others
  // must stay while the scan lives.
  class Scan {
   public:
    Scan(const MatchIndex& index, const Header& header);
    // The earliest with an order of at least `from`; nullptr when there is none. Cheapest with a growing `from`.
    [[nodiscard]] MatchEntry* first_from(std::uint64_t from);

   private:
    static constexpr std::size_t kInline = 8;
    void restart();
    [[nodiscard]] MatchEntry*& cursor(std::size_t at) { return at < kInline ? few_[at] : more_[at - kInline]; }

    const MatchIndex& index_;
    const Header& header_;
    std::uint64_t from_ = 0;
    std::size_t cursors_ = 0;
    std::array<MatchEntry*, kInline> few_;
    std::vector<MatchEntry*> more_;
  };

 private:
  [[nodiscard]] Shape& obtain(const MatchShape& wanted);
  [[nodiscard]] static MatchEntry* predecessor(const MatchEntry& entry, const Ends& queue, const MatchShape& shape);

  std::vector<Shape> shapes_;
  std::size_t entries_ = 0;
};

}  // namespace margay::portals
