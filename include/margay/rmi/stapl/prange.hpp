// A range of a container's elements as work for nodes (paper 004, sections 2 and 5.3): "an abstract view of a scoped
// data space, which allows random access to a partition". A pAlgorithm is a parallel_task on pRanges: each node works
// on local(), in place.
//
// A pRange is a value with the container's address, an index and a count. It says which elements an algorithm works on;
// the container says where they are. So one algorithm serves a whole pvector and a part of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "margay/rmi/stapl/pvector.hpp"

namespace margay::rmi {

// Container: pvector<T>, or const pvector<T> for elements that are only read. Refers to the container, which outlives
// it. Valid until the container is resized. A small value; makes no requests, and does not travel: each node makes its
// own.
template <class Container>
class pRange {
 public:
  using value_type = typename Container::value_type;

  // All elements.
  explicit pRange(Container& container) : pRange(container, 0, container.size()) {}
  // `count` elements from `first`. Throws `error` if the container has fewer.
  pRange(Container& container, std::size_t first, std::size_t count)
      : container_(&container), first_(first), count_(count) {
    if (first > container.size() || count > container.size() - first) {
      fail("pRange: invalid range of " + std::to_string(count) + " elements from index " + std::to_string(first) +
           "; the size is " + std::to_string(container.size()));
    }
  }

  [[nodiscard]] Container& container() const { return *container_; }
  // Index of the first element in the container; number of elements.
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t size() const { return count_; }

  // The partition: one part for each node, by node number; empty where the node stores none of the elements. Indices
  // are the container's.
  [[nodiscard]] int num_parts() const { return container_->parts().nodes(); }
  // The partition: one part for each node, by node number; empty where the node stores none of the elements. Indices
  // are the container's. Requires: 0 <= node < num_parts().
  [[nodiscard]] subrange operator[](int node) const { return container_->parts().part_of(node, first_, count_); }
  // The elements of this node's part, in place: a std::span, of const elements for a const container. Valid until the
  // container is resized or destroyed. The owner may read and write them while no request for them is on its way.
  [[nodiscard]] auto local() const {
    const int me = get_node_id();
    const subrange mine = (*this)[me];
    return container_->local().subspan(mine.first - container_->parts().part_of(me).first, mine.count);
  }

 private:
  Container* container_;
  std::size_t first_, count_;
};

}  // namespace margay::rmi
