// The elements of a type in a row, as many as anybody asks for: what a portals region of a noncontiguous buffer refers
// to, and what packing walks.
#pragma once

#include "mpi_adi/datatype/layout.hpp"
#include "mpi_adi/datatype/walker.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

class ElementsLayout final : public portals::Layout {
 public:
  // Elements of `element`, `extent` apart.
  ElementsLayout(const mpi_adi::Layout& element, std::int64_t extent);

  // All three require that the element has bytes.
  [[nodiscard]] portals::Buffer piece(std::byte* base, std::uint64_t at) const override;
  void gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const override;
  void scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const override;
  // Nodes on the longest way down, for tests and descriptions.
  [[nodiscard]] std::uint32_t depth() const { return root_.node ? root_.node->depth : 0; }
  [[nodiscard]] const mpi_adi::Layout& root() const { return root_; }

 private:
  // Runs of the walk's first strip that are `bytes` from `at` on; 0: walk.
  [[nodiscard]] std::uint64_t first_runs(std::uint64_t at, std::uint64_t bytes) const;

  mpi_adi::Layout root_;
  Strip first_run_;  // at a base of null, as the next
  Strip first_;      // what a walk yields first
};

}  // namespace margay::mpi_adi
