// A compiled layout: which runs of bytes one element has, in type-map order, in as little memory as the regularity of
// the type allows. A tree without recursion in its walk: loops over loops over runs; tables where nothing repeats.
// Sub-trees are shared between the types that were made of each other. Immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace margay::mpi_adi {

struct LayoutNode;
using LayoutPtr = std::shared_ptr<const LayoutNode>;

// Offsets are from the node's own beginning; a node has at least one byte.
struct LayoutNode {
  enum class Kind : std::uint8_t {
    run,     // `size` bytes at 0
    loop,    // `count` times `child`, `stride` apart
    blocks,  // runs of `block` bytes at `offsets`
    table,   // `entries`: runs of any length, or other nodes
  };
  struct Entry {
    std::int64_t offset = 0;
    std::uint64_t before = 0;           // bytes of data in the entries before this one
    const LayoutNode* child = nullptr;  // null: a run, of kind 0, up to the next entry's `before`
  };

  LayoutNode() = default;
  LayoutNode(const LayoutNode&) = delete;
  LayoutNode& operator=(const LayoutNode&) = delete;
  // Takes what is below with it in a loop: types can be nested as deep as a program likes.
  ~LayoutNode();

  Kind kind = Kind::run;
  bool runs_only = false;   // a table all of whose entries are runs
  std::uint32_t depth = 1;  // nodes on the longest way down, this one included
  int leaf = 0;             // of a run: what its bytes are (see Layout); runs of different kinds are never joined
  std::uint64_t size = 0;   // bytes of data
  std::int64_t count = 0;   // iterations, blocks or entries
  std::int64_t stride = 0;  // bytes
  std::uint64_t block = 0;  // bytes of a run that is the loop's body, or of each block; else 0
  LayoutPtr child;          // of a loop
  std::vector<std::int64_t> offsets;
  std::vector<Entry> entries;
  std::vector<LayoutPtr> held;  // what the entries point to
};

// Bytes of data in a table's entries up to this one, and in it. Requires: there is such an entry.
[[nodiscard]] inline std::uint64_t entry_end(const LayoutNode& table, std::uint64_t entry) {
  return entry + 1 < table.entries.size() ? table.entries[entry + 1].before : table.size;
}

// A node at an offset; without a node no byte. Two uses: where an element's bytes lie (all leaves of kind 0), and the
// type's signature, where the packed bytes follow each other and a leaf is the handle of its predefined type.
struct Layout {
  LayoutPtr node;
  std::int64_t offset = 0;
  [[nodiscard]] std::uint64_t size() const { return node ? node->size : 0; }
  [[nodiscard]] bool is_run() const { return node && node->kind == LayoutNode::Kind::run; }
};

}  // namespace margay::mpi_adi
