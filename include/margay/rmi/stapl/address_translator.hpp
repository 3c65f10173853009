// The translation of a pvector's indices into nodes (paper, footnote 5: "the range of indices contained in each
// sub-pVector, along with the corresponding node ID and local pointer").
//
// Parts are in the order of nodes and differ by at most one element, so that the table is two numbers. An offset stands
// for the paper's local pointer: addresses do not travel (travel.hpp), and the owner adds the offset to its own part.
#pragma once

#include <algorithm>
#include <cstddef>

namespace margay::rmi {

// The elements `first` to `first + count - 1`, all of which `node` stores.
struct subrange {
  int node = 0;
  std::size_t first = 0;
  std::size_t count = 0;

  [[nodiscard]] std::size_t end() const { return first + count; }
};

// The place of an element: the node, and the offset in that node's part, in elements.
struct location {
  int node = 0;
  std::size_t offset = 0;
};

// The parts of `size` elements on `nodes` nodes. A value of four words, equal on all nodes that give the same
// arguments; no function communicates or throws.
class address_translator {
 public:
  // Requires: nodes > 0.
  address_translator(std::size_t size, int nodes)
      : size_(size),
        nodes_(nodes),
        least_(size / static_cast<std::size_t>(nodes)),
        longer_(size % static_cast<std::size_t>(nodes)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int nodes() const { return nodes_; }

  // The part of a node, empty if there are fewer elements than nodes before it. Requires: 0 <= node < nodes().
  [[nodiscard]] subrange part_of(int node) const {
    const auto number = static_cast<std::size_t>(node);
    return {node, number * least_ + std::min(number, longer_), least_ + (number < longer_ ? 1 : 0)};
  }
  // The elements of a node's part among `count` ones from `first`. If there are none, `first` is the nearest border.
  [[nodiscard]] subrange part_of(int node, std::size_t first, std::size_t count) const {
    const subrange whole = part_of(node);
    const std::size_t begin = std::clamp(first, whole.first, whole.end());
    return {node, begin, std::clamp(first + count, begin, whole.end()) - begin};
  }
  // Constant time. Requires: index < size().
  [[nodiscard]] location find(std::size_t index) const {
    // The first `longer_` parts have one element more.
    const std::size_t in_longer = longer_ * (least_ + 1);
    const std::size_t node = index < in_longer ? index / (least_ + 1) : longer_ + (index - in_longer) / least_;
    return {static_cast<int>(node), index - part_of(static_cast<int>(node)).first};
  }
  // Calls use(subrange) for each node that stores any of `count` elements from `first`, in order. Requires: first +
  // count <= size(). Time: proportional to the number of these nodes.
  template <class Use>
  void for_each_part(std::size_t first, std::size_t count, Use&& use) const {
    if (count == 0) return;
    const int last = find(first + count - 1).node;
    for (int node = find(first).node; node <= last; ++node) use(part_of(node, first, count));
  }

 private:
  std::size_t size_;
  int nodes_;
  // Elements of the shorter parts; the number of parts with one element more.
  std::size_t least_, longer_;
};

}  // namespace margay::rmi
