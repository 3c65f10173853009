// A hash table from (bits, group, rank) to the two ends of a queue. The index of posted entries and the index of
// arrived messages both use it. Open addressing with linear probing; erasing moves later keys back and leaves no
// tombstones, so lookups stay short however many keys came and went. It grows, by doubling at 3/4 full, and never
// shrinks. Internal to portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/base/header.hpp"

namespace margay::portals {

// The significant fields of criteria. Criteria that differ only in the values of these fields have the same shape, and
// share one hash table.
struct MatchShape {
  // As in Criteria: a bit that is set is not compared.
  MatchBits ignore_bits = 0;
  // Whether the criteria accept every group, and every rank.
  bool any_group = true;
  bool any_rank = true;
  friend bool operator==(const MatchShape&, const MatchShape&) = default;

  // The shape of criteria.
  [[nodiscard]] static MatchShape of(const Criteria& criteria) {
    return {criteria.ignore_bits, criteria.source_group == kAnyGroup, criteria.source_rank == kAnyRank};
  }
};

// The significant values of criteria, or of a message, under a shape; insignificant ones are 0. Two criteria of one
// shape with equal keys accept the same messages, and a message meets criteria exactly when its key under the
// criteria's shape equals the criteria's key.
struct MatchKey {
  MatchBits bits = 0;
  GroupId group = 0;
  Rank rank = 0;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;

  // The key of values under a shape.
  [[nodiscard]] static MatchKey of(const MatchShape& shape, MatchBits bits, GroupId group, Rank rank) {
    return {bits & ~shape.ignore_bits, shape.any_group ? 0 : group, shape.any_rank ? 0 : rank};
  }
  // The key of a message: the same as that of all criteria of the shape that accept it.
  [[nodiscard]] static MatchKey of(const MatchShape& shape, const Header& header) {
    return of(shape, header.match_bits, header.source.group, header.source.rank);
  }
  // The key of criteria. Requires: `shape` is the shape of `criteria`.
  [[nodiscard]] static MatchKey of(const MatchShape& shape, const Criteria& criteria) {
    return of(shape, criteria.match_bits, criteria.source_group, criteria.source_rank);
  }
};

// The table. `End` refers to an element of the queue (a pointer or a slot number); `kNone` marks an empty slot of the
// table. Used under the process lock only. An operation takes expected constant time, because at least a quarter of the
// slots is empty; only growing is linear.
template <class End, End kNone>
class KeyTable {
 public:
  // A queue's first and last element. The elements link each other; the table stores the ends only.
  struct Ends {
    End first = kNone;
    End last = kNone;
  };

  // The queue of `key`; nullptr when the table has none. Valid until the next obtain() or erase().
  [[nodiscard]] const Ends* find(const MatchKey& key) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = home(key);; at = after(at)) {
      if (slots_[at].ends.first == kNone) return nullptr;
      if (slots_[at].key == key) return &slots_[at].ends;
    }
  }
  // The queue of `key`. If the table has none, makes an empty one, whose `first` the caller must set to an element.
  // Invalidates earlier results of find(), obtain() and at(). Allocates only when the table grows.
  [[nodiscard]] Ends& obtain(const MatchKey& key) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    std::size_t at = home(key);
    while (slots_[at].ends.first != kNone) {
      if (slots_[at].key == key) return slots_[at].ends;
      at = after(at);
    }
    ++used_;
    MARGAY_ASSERT(used_ < slots_.size());  // the search for an absent key ends at an empty slot
    slots_[at].key = key;
    return slots_[at].ends;
  }
  // The queue of `key`. Requires: the table has it.
  [[nodiscard]] Ends& at(const MatchKey& key) {
    std::size_t at = home(key);
    while (!(slots_[at].key == key)) at = after(at);
    MARGAY_ASSERT(slots_[at].ends.first != kNone);
    return slots_[at].ends;
  }
  // Removes `key`. Requires: the table has it. Invalidates earlier results of find(), obtain() and at().
  void erase(const MatchKey& key) {
    MARGAY_ASSERT(used_ != 0);
    std::size_t hole = home(key);
    while (!(slots_[hole].key == key && slots_[hole].ends.first != kNone)) hole = after(hole);
    // Keys that probing displaced past the hole move back, so that no lookup stops short at an empty slot. A key may
    // fill the hole if its probe sequence passes the hole, that is, if its home is at least as far back as the hole.
    for (std::size_t at = after(hole); slots_[at].ends.first != kNone; at = after(at)) {
      const std::size_t wish = home(slots_[at].key);
      if (((at - wish) & (slots_.size() - 1)) >= ((at - hole) & (slots_.size() - 1))) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = Slot{};
    --used_;
  }
  // Number of keys. Each has a queue that is not empty.
  [[nodiscard]] std::size_t size() const { return used_; }

 private:
  // A key with its queue. A slot whose queue has no first element is empty.
  struct Slot {
    MatchKey key;
    Ends ends;
  };
  // The first size. Sizes are powers of two: home() and after() mask.
  static constexpr std::size_t kLeastSlots = 16;

  // The slot where the search for `key` begins. MPI's keys differ in a few bits of tag and rank; each multiplication
  // spreads these bits over the upper half of the hash, which selects the slot.
  [[nodiscard]] std::size_t home(const MatchKey& key) const {
    std::uint64_t hash = key.bits * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 32;
    hash += ((std::uint64_t{key.group} << 32) | key.rank) * 0xc2b2'ae3d'27d4'eb4f;
    hash ^= hash >> 29;
    hash *= 0xbf58'476d'1ce4'e5b9;
    return static_cast<std::size_t>(hash >> 32) & (slots_.size() - 1);
  }
  // The next slot of a probe sequence, which wraps.
  [[nodiscard]] std::size_t after(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  // Doubles the table, and enters all keys again, because their homes change. Linear in the table's size, so amortised
  // constant per key.
  void grow() {
    std::vector<Slot> old(slots_.empty() ? kLeastSlots : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.ends.first == kNone) continue;
      std::size_t at = home(slot.key);
      while (slots_[at].ends.first != kNone) at = after(at);
      slots_[at] = slot;
    }
  }

  // Empty before the first key; then a power of two of slots, of which at least one is empty.
  std::vector<Slot> slots_;
  // Slots with a key.
  std::size_t used_ = 0;
};

}  // namespace margay::portals
