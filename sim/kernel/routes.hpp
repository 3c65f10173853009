// A table of the wires that reach each rank. The usual wire of a rank takes one byte, because a job may have thousands
// of ranks but has few wires. Many ranks in one process share these bytes. Further wires (ways) are rare.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// Immutable once a kernel has it, but for the places that processes of other jobs get (set()). The wires are not owned.
// The lookup of a usual wire costs two loads. Any thread may read it.
class Routes {
 public:
  // `by_rank[r]`: the wire that reaches rank r. Fails an assertion if an element is nullptr, or if there are more
  // different wires than wires_ has room for.
  Routes(const std::vector<Wire*>& by_rank)  // NOLINT(google-explicit-constructor): it is the same table
      : size_(by_rank.size()) {
    auto numbers = std::make_shared<Numbers>(size_);
    for (std::size_t rank = 0; rank < size_; ++rank) (*numbers)[rank] = number_of(by_rank[rank]);
    of_rank_ = numbers->data();
    numbers_ = std::move(numbers);
  }
  // The routes of rank `me` to `ranks` ranks: `self` to itself, `others` to all others. Ranks of one process share
  // `pattern`, which is pattern_of(ranks): each has a table of thousands, but no bytes of its own.
  using Numbers = std::vector<std::uint8_t>;
  Routes(std::shared_ptr<const Numbers> pattern, std::uint32_t me, Wire& self, Wire& others)
      : wires_{&others, &self}, used_(2), size_((pattern->size() + 1) / 2), numbers_(std::move(pattern)) {
    MARGAY_ASSERT(me < size_);
    of_rank_ = numbers_->data() + (size_ - 1 - me);
  }
  // Zeros with a one in the middle: each rank's table is the window of `ranks` bytes that has the one at that rank.
  [[nodiscard]] static std::shared_ptr<const Numbers> pattern_of(std::uint32_t ranks) {
    auto pattern = std::make_shared<Numbers>(2 * std::size_t{ranks} - 1);
    (*pattern)[ranks - 1] = 1;
    return pattern;
  }

  // Ranks of the job.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(size_); }
  // The wire that reaches `rank`. Requires: rank < size().
  [[nodiscard]] Wire* operator[](std::uint32_t rank) const {
    MARGAY_DEBUG_ASSERT(rank < size_);
    return wires_[of_rank_[rank]];
  }
  // Makes `wire` the usual wire to `rank`, to which nothing has been sent and from which nothing has come. The first
  // call copies a shared table.
  void set(std::uint32_t rank, Wire& wire) {
    MARGAY_ASSERT(rank < size_);
    auto numbers = std::make_shared<Numbers>(of_rank_, of_rank_ + size_);
    (*numbers)[rank] = number_of(&wire);
    of_rank_ = numbers->data();
    numbers_ = std::move(numbers);
  }
  // Adds a further way, by `wire`, to each rank r with `reached[r]` that it does not reach as the usual wire. Requires:
  // one wire of each kind is added at most.
  void add_way(Wire& wire, std::vector<bool> reached) {
    MARGAY_ASSERT(reached.size() == size_);
    for (std::uint32_t rank = 0; rank < size_; ++rank) reached[rank] = reached[rank] && (*this)[rank] != &wire;
    Further& further = further_[static_cast<std::size_t>(wire.id())];
    MARGAY_ASSERT(further.wire == nullptr);
    further = {&wire, std::move(reached)};
    has_ways_ = true;
  }
  [[nodiscard]] bool has_ways() const { return has_ways_; }
  // The wire of a way to `rank`; nullptr: the way is not open. Requires: rank < size().
  [[nodiscard]] Wire* by(std::uint32_t rank, WayCode way) const {
    if (way == kUsualWay) [[likely]]
      return (*this)[rank];
    const std::size_t at = way - 1U;
    if (at >= further_.size() || further_[at].wire == nullptr || !further_[at].reached[rank]) return nullptr;
    return further_[at].wire;
  }
  // The way to `rank` that `wire` is. Requires: it reaches the rank.
  [[nodiscard]] WayCode way(const Wire& wire, std::uint32_t rank) const {
    return !has_ways_ || (*this)[rank] == &wire ? kUsualWay : way_by(wire.id());
  }
  // Each wire once, fastest first, which is the order of WireId. Allocates; called only while a process starts.
  [[nodiscard]] std::vector<Wire*> wires() const {
    std::vector<Wire*> all(wires_.begin(), wires_.begin() + used_);
    for (const Further& further : further_) {
      if (further.wire != nullptr && std::ranges::find(all, further.wire) == all.end()) all.push_back(further.wire);
    }
    std::sort(all.begin(), all.end(), [](const Wire* a, const Wire* b) { return a->id() < b->id(); });
    return all;
  }

 private:
  // Returns the index of a wire in wires_. Adds the wire at its first rank.
  std::uint8_t number_of(Wire* wire) {
    MARGAY_ASSERT(wire != nullptr);
    const auto end = wires_.begin() + used_;
    const auto found = std::find(wires_.begin(), end, wire);
    if (found == end) {
      MARGAY_ASSERT(used_ < static_cast<std::ptrdiff_t>(wires_.size()));
      wires_[static_cast<std::size_t>(used_++)] = wire;
    }
    return static_cast<std::uint8_t>(found - wires_.begin());
  }

  // The different wires, in the order of the first rank that each reaches. Room for two of each kind.
  std::array<Wire*, 2 * kWireCount> wires_{};
  static_assert(2 * kWireCount <= 256);  // of_rank_ has a byte for each
  // Wires in use.
  std::ptrdiff_t used_ = 0;
  // By WireId: a wire that is a further way to some ranks.
  struct Further {
    Wire* wire = nullptr;
    std::vector<bool> reached;
  };
  std::array<Further, kWireCount> further_{};
  bool has_ways_ = false;
  std::size_t size_;
  // The table's bytes, and by rank the index in wires_.
  std::shared_ptr<const Numbers> numbers_;
  const std::uint8_t* of_rank_ = nullptr;
};

}  // namespace margay::sim
