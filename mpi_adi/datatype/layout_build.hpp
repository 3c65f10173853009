// Construction of layouts from layouts, with folding: touching runs are joined, a loop of one iteration becomes its
// body, a loop over touching runs becomes a run, and equal parts at equal distances become a loop.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/datatype/layout.hpp"

namespace margay::mpi_adi {

// A run of `bytes` bytes at offset 0; no node for 0 bytes.
[[nodiscard]] Layout layout_run(std::uint64_t bytes, int leaf = 0);

// `count` times `body`, `stride` bytes apart. Requires: count >= 0, and the size does not overflow.
[[nodiscard]] Layout layout_repeat(const Layout& body, std::int64_t count, std::int64_t stride);

// A sequence of layouts in type-map order. A part that joins its predecessor takes no memory.
class LayoutSequence {
 public:
  // Appends `count` times `body`, `stride` apart, the first at `offset`.
  void add(std::int64_t offset, const Layout& body, std::int64_t count = 1, std::int64_t stride = 0);
  // Reserves room for this number of parts. Its only effect is to save reallocation.
  void reserve(std::size_t parts) { parts_.reserve(parts); }
  // The folded layout: a single part, a loop, blocks, or a table. The sequence must not be used afterwards.
  [[nodiscard]] Layout finish();

 private:
  // A part of the sequence: a run, or a node at an offset.
  struct Part {
    std::int64_t offset = 0;
    std::uint64_t bytes = 0;
    int leaf = 0;
    LayoutPtr node;  // nullptr: a run
  };
  // Appends a run, or extends the last part by it.
  void add_run(std::int64_t offset, std::uint64_t bytes, int leaf);
  // Appends a node, joins it to the last part, or shares the last part's node if both are equal.
  void add_node(std::int64_t offset, const LayoutPtr& node);
  // Appends the entries of a small table one by one, so that they may join their neighbours.
  void add_entries(std::int64_t offset, const LayoutNode& table);
  // Joins a loop to the last part if possible. Returns whether it was joined.
  [[nodiscard]] bool joins_loop(std::int64_t offset, const LayoutPtr& node);
  // Whether all parts are equal and equally far apart. Requires: two or more.
  [[nodiscard]] bool regular() const;
  // Whether all parts are runs of one length and of leaf 0.
  [[nodiscard]] bool equal_runs() const;
  // The two irregular forms: as_blocks(), with 8 bytes a part, for runs of one length; as_table(), with 24 bytes a
  // part.
  [[nodiscard]] Layout as_blocks() const;
  [[nodiscard]] Layout as_table() const;

  // In type-map order, which is the order of the packed bytes.
  std::vector<Part> parts_;
};

}  // namespace margay::mpi_adi
