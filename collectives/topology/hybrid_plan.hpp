// How a hybrid goes (paper 001, section 3.2): the ranks as a grid (topology/grid), and for each of its dimensions
// whether it is done the short way or the long way. A value: all members of a call have the same one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::collectives {

// Along a line of a grid.
enum class Way : std::uint8_t {
  brief,   // short: trees, or rounds between partners; each message has all that its sender has
  slices,  // long: each rank has its slice of the row, which goes straight from rank to rank
  bucket,  // long: the slices go round the line, in pieces
};

struct HybridPlan {
  static constexpr std::size_t kMaxDimensions = 4;
  struct Dimension {
    int length = 1;
    Way way = Way::slices;
    [[nodiscard]] bool is_long() const { return way != Way::brief; }
    bool operator==(const Dimension&) const = default;
  };
  // The ranks of a node come first, as the dimensions in which they are cut, then the nodes. The others have length 1.
  std::array<Dimension, kMaxDimensions> dimensions = {};

  [[nodiscard]] std::int64_t ranks() const;
  // Data is cut into slices, which may be short where the data is not.
  [[nodiscard]] bool any_long() const;

  // The order in which an algorithm goes through the dimensions, those of length 1 left out: first the long ones, so
  // that the short ones have slices to move only, each sort in the order of the grid.
  struct Order {
    std::array<std::uint8_t, kMaxDimensions> dimensions = {};
    std::size_t count = 0;
    [[nodiscard]] std::span<const std::uint8_t> all() const { return std::span(dimensions).first(count); }
  };
  [[nodiscard]] Order order() const;

  // Whether reductions and allreduces combine neighbours in the grid's order alone. Then an operation need not commute,
  // if that is the order of ranks (NodeGroups::in_rank_order): no ring, and no short dimension before a long one.
  [[nodiscard]] bool combines_in_order() const;
  // The same of a reduce-scatter, whose short way does not: all dimensions by slices.
  [[nodiscard]] bool reduce_scatters_in_order() const;

  bool operator==(const HybridPlan&) const = default;
};

}  // namespace margay::collectives
