// The layout of any number of consecutive elements of a type. The region of a noncontiguous buffer refers to it, and
// packing walks it.
#pragma once

#include "mpi_adi/datatype/layout.hpp"
#include "mpi_adi/datatype/walker.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

// The layout of an endless sequence of a type's elements, of which a region uses a part. Immutable, so any number of
// messages may use it at once. Part of the type's definition, to which its users refer.
class ElementsLayout final : public portals::Layout {
 public:
  // Elements of layout `element`, `extent` bytes apart.
  ElementsLayout(const mpi_adi::Layout& element, std::int64_t extent);

  // Functions of portals::Layout. piece(): the run that begins at data byte `at`. gather() and scatter(): copies of the
  // data bytes from `at` on, to and from packed memory. `base`: the buffer. Requires: the element has bytes.
  [[nodiscard]] portals::Buffer piece(std::byte* base, std::uint64_t at) const override;
  void gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const override;
  void scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const override;
  // Nodes on the longest path down, for tests and descriptions.
  [[nodiscard]] std::uint32_t depth() const { return root_.node ? root_.node->depth : 0; }
  [[nodiscard]] const mpi_adi::Layout& root() const { return root_; }

 private:
  // The number of runs of the first strip that make up exactly `bytes` bytes from `at` on; 0: a walk is needed.
  [[nodiscard]] std::uint64_t first_runs(std::uint64_t at, std::uint64_t bytes) const;

  // A loop over the elements, far longer than any buffer. No node if the element has no bytes.
  mpi_adi::Layout root_;
  Strip first_run_;  // the first run, for a base of 0
  Strip first_;      // the strip that a walk yields first, for a base of 0
};

}  // namespace margay::mpi_adi
