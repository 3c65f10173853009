#include "virtual_machine/model/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::virtual_machine {
namespace {

std::uint32_t ceiling(std::uint32_t dividend, std::uint32_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

// The smallest number whose power of this exponent is at least `value`.
std::uint32_t root(std::uint32_t value, std::size_t exponent) {
  std::uint32_t base = 1;
  const auto is_enough = [&] {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < exponent && power < value; ++i) power *= base;
    return power >= value;
  };
  while (!is_enough()) ++base;
  return base;
}

// Replaces the zeros of a shape so that it has at least this many switches: near to a square or a cube, and without
// empty places if less than twice such an extent divides the number of switches.
std::vector<std::uint32_t> fitted_shape(std::vector<std::uint32_t> shape, std::uint32_t switches) {
  std::uint32_t left = switches;
  auto open = static_cast<std::size_t>(std::count(shape.begin(), shape.end(), 0U));
  for (const std::uint32_t extent : shape) {
    if (extent != 0) left = ceiling(left, extent);
  }
  for (std::uint32_t& extent : shape) {
    if (extent != 0) continue;
    const std::uint32_t least = root(left, open);
    extent = least;
    while (extent < 2 * least && left % extent != 0) ++extent;
    if (left % extent != 0) extent = least;
    left = ceiling(left, extent);
    --open;
  }
  return shape;
}

}  // namespace

Fabric::Fabric(const Network& network, std::uint32_t nodes)
    : topology_(network.topology), nodes_per_switch_(network.nodes_per_switch), arity_(network.arity) {
  MARGAY_ASSERT(nodes > 0 && nodes <= kNodesMost);
  const std::uint32_t switches = ceiling(nodes, nodes_per_switch_);
  switch (topology_) {
    case Topology::crossbar:
      // Switch 0 for each node.
      nodes_per_switch_ = nodes;
      return;
    case Topology::mesh:
    case Topology::torus:
      shape_ = fitted_shape(network.shape, switches);
      dimensions_ = static_cast<std::uint32_t>(shape_.size());
      for (const std::uint32_t extent : shape_) {
        strides_.push_back(switch_count_);
        switch_count_ *= extent;
      }
      MARGAY_ASSERT(switch_count_ >= switches);
      link_count_ = switch_count_ * dimensions_ * 2;
      return;
    case Topology::hypercube:
      // A power of two: switches without nodes forward messages, too.
      dimensions_ = static_cast<std::uint32_t>(std::bit_width(switches - 1));
      switch_count_ = 1U << dimensions_;
      link_count_ = switch_count_ * dimensions_;
      return;
    case Topology::fat_tree: {
      nodes_per_switch_ = arity_;
      strides_.push_back(1);
      // A level has as many switches as the highest power of the arity below the number of nodes; 1 for one node.
      for (dimensions_ = 1; std::uint64_t{strides_.back()} * arity_ < nodes; ++dimensions_) {
        strides_.push_back(strides_.back() * arity_);
      }
      switch_count_ = dimensions_ * strides_.back();
      // Two for each upward port of each switch that has a level above it.
      link_count_ = (dimensions_ - 1) * strides_.back() * arity_ * 2;
      return;
    }
  }
}

void Fabric::find_route(std::uint32_t from_node, std::uint32_t to_node, std::vector<std::uint32_t>& links) const {
  links.clear();
  switch (topology_) {
    case Topology::crossbar:
      return;
    case Topology::mesh:
    case Topology::torus:
      return find_grid_route(switch_of(from_node), switch_of(to_node), links);
    case Topology::hypercube:
      return find_cube_route(switch_of(from_node), switch_of(to_node), links);
    case Topology::fat_tree:
      return find_tree_route(from_node, to_node, links);
  }
}

void Fabric::find_grid_route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const {
  std::uint32_t at = from;
  for (std::uint32_t dimension = 0; dimension < dimensions_; ++dimension) {
    const std::uint32_t extent = shape_[dimension];
    const std::uint32_t stride = strides_[dimension];
    std::uint32_t here = from / stride % extent;
    const std::uint32_t there = to / stride % extent;
    if (here == there) continue;
    bool is_up = there > here;
    // Both ways round are equal if the distance is half of the extent; then upwards.
    if (topology_ == Topology::torus) is_up = (there + extent - here) % extent * 2 <= extent;
    while (here != there) {
      links.push_back((at * dimensions_ + dimension) * 2 + (is_up ? 0 : 1));
      const std::uint32_t next = is_up ? (here + 1) % extent : (here + extent - 1) % extent;
      at = at - here * stride + next * stride;
      here = next;
    }
  }
}

void Fabric::find_cube_route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const {
  while (from != to) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(from ^ to));
    links.push_back(from * dimensions_ + bit);
    from ^= 1U << bit;
  }
}

std::uint32_t Fabric::tree_link(std::uint32_t level, std::uint32_t number, std::uint32_t port, bool is_down) const {
  return ((level * strides_.back() + number) * arity_ + port) * 2 + (is_down ? 1 : 0);
}

// A switch has a number of n-1 digits. It is joined to the switches of the next level whose numbers differ from its own
// in no digit but the level's; the port is that digit. A node's switch has the digits of the node without the lowest.
void Fabric::find_tree_route(std::uint32_t from_node, std::uint32_t to_node, std::vector<std::uint32_t>& links) const {
  std::uint32_t number = from_node / arity_;
  const std::uint32_t target = to_node / arity_;
  // The first level on which a switch leads down to both nodes: above it their numbers have the same digits.
  std::uint32_t top = 0;
  while (number / strides_[top] != target / strides_[top]) ++top;
  for (std::uint32_t level = 0; level < top; ++level) {
    const std::uint32_t port = to_node / strides_[level] % arity_;
    links.push_back(tree_link(level, number, port, false));
    number = number - number / strides_[level] % arity_ * strides_[level] + port * strides_[level];
  }
  for (std::uint32_t level = top; level-- > 0;) {
    const std::uint32_t port = number / strides_[level] % arity_;
    number = number - port * strides_[level] + target / strides_[level] % arity_ * strides_[level];
    links.push_back(tree_link(level, number, port, true));
  }
}

Fabric::Ends Fabric::ends_of(std::uint32_t link) const {
  MARGAY_ASSERT(link < link_count_);
  // The inverse of the numbers that the find functions and tree_link() compute.
  if (topology_ == Topology::hypercube) {
    const std::uint32_t from = link / dimensions_;
    return {from, from ^ (1U << (link % dimensions_))};
  }
  const bool is_back = link % 2 != 0;
  const std::uint32_t number = link / 2;
  if (topology_ == Topology::fat_tree) {
    const std::uint32_t lower = number / arity_;
    const std::uint32_t level = lower / strides_.back();
    const std::uint32_t digit = lower % strides_.back() / strides_[level] % arity_;
    const std::uint32_t upper = lower + strides_.back() + number % arity_ * strides_[level] - digit * strides_[level];
    return is_back ? Ends{upper, lower} : Ends{lower, upper};
  }
  const std::uint32_t from = number / dimensions_;
  const std::uint32_t dimension = number % dimensions_;
  const std::uint32_t extent = shape_[dimension];
  const std::uint32_t here = from / strides_[dimension] % extent;
  const std::uint32_t next = is_back ? (here + extent - 1) % extent : (here + 1) % extent;
  return {from, from - here * strides_[dimension] + next * strides_[dimension]};
}

bool Fabric::has_link(std::uint32_t link) const {
  const Ends ends = ends_of(link);
  if (ends.from == ends.to) return false;
  // Upwards along a dimension the switch's number grows, except over the edge.
  return topology_ != Topology::mesh || (link % 2 == 0) == (ends.to > ends.from);
}

std::string Fabric::name_of_switch(std::uint32_t number) const {
  MARGAY_ASSERT(number < switch_count_);
  if (topology_ == Topology::fat_tree) return fmt::format("{}:{}", number / strides_.back(), number % strides_.back());
  if (shape_.empty()) return fmt::format("{}", number);
  std::vector<std::uint32_t> place;
  for (std::size_t i = 0; i < shape_.size(); ++i) place.push_back(number / strides_[i] % shape_[i]);
  return fmt::format("({})", fmt::join(place, ","));
}

}  // namespace margay::virtual_machine
