// Making layouts out of layouts. What can be folded is folded here: touching runs are joined, loops of one round and
// loops over touching runs vanish, equal entries at equal distances become a loop.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/datatype/layout.hpp"

namespace margay::mpi_adi {

[[nodiscard]] Layout layout_run(std::uint64_t bytes, int leaf = 0);

// `count` times `body`, `stride` bytes apart. Requires: count >= 0, and the size does not overflow.
[[nodiscard]] Layout layout_repeat(const Layout& body, std::int64_t count, std::int64_t stride);

// One behind the other. A part costs what it keeps: nothing when it joins the one before it.
class LayoutSequence {
 public:
  // `count` times `body`, `stride` apart, the first at `offset`.
  void add(std::int64_t offset, const Layout& body, std::int64_t count = 1, std::int64_t stride = 0);
  void reserve(std::size_t parts) { parts_.reserve(parts); }
  [[nodiscard]] Layout finish();

 private:
  struct Part {
    std::int64_t offset = 0;
    std::uint64_t bytes = 0;
    int leaf = 0;
    LayoutPtr node;  // null: a run
  };
  void add_run(std::int64_t offset, std::uint64_t bytes, int leaf);
  void add_node(std::int64_t offset, const LayoutPtr& node);
  void add_entries(std::int64_t offset, const LayoutNode& table);
  [[nodiscard]] bool joins_loop(std::int64_t offset, const LayoutPtr& node);
  [[nodiscard]] bool regular() const;
  [[nodiscard]] bool equal_runs() const;
  [[nodiscard]] Layout as_blocks() const;
  [[nodiscard]] Layout as_table() const;

  std::vector<Part> parts_;
};

}  // namespace margay::mpi_adi
