// A compiled layout: the runs of bytes of one element, in type-map order, in as little memory as the type's regularity
// allows. It is a tree of nested loops over runs, with tables for parts that do not repeat. A walk needs no recursion.
// A type and the types that are made of it share sub-trees. Immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace margay::mpi_adi {

struct LayoutNode;
using LayoutPtr = std::shared_ptr<const LayoutNode>;

// One node of the tree, which layouts share and which never changes. Offsets are in bytes from the node's own start. A
// node has at least one byte.
struct LayoutNode {
  enum class Kind : std::uint8_t {
    run,     // `size` bytes at 0
    loop,    // `count` times `child`, `stride` apart
    blocks,  // runs of `block` bytes each, at `offsets`
    table,   // `entries`, each a run of any length or another node
  };
  // An element of a table.
  struct Entry {
    std::int64_t offset = 0;
    std::uint64_t before = 0;  // bytes of data in the entries before this one
    // nullptr: a run of leaf 0; its length is the difference to the next entry's `before`.
    const LayoutNode* child = nullptr;
  };

  LayoutNode() = default;
  LayoutNode(const LayoutNode&) = delete;
  LayoutNode& operator=(const LayoutNode&) = delete;
  // Destroys the nodes below in a loop, because types can be nested more deeply than a stack.
  ~LayoutNode();

  Kind kind = Kind::run;
  bool runs_only = false;   // it is a table, and all entries are runs
  std::uint32_t depth = 1;  // nodes on the longest path down, this one included
  int leaf = 0;             // of a run: the type of its bytes (see Layout); runs with different leaves are never joined
  std::uint64_t size = 0;   // bytes of data
  std::int64_t count = 0;   // iterations, blocks or entries
  std::int64_t stride = 0;  // of a loop: bytes from one iteration to the next
  std::uint64_t block = 0;  // bytes of the run in a loop's body, or of each block; otherwise 0
  // The body of a loop, shared with other layouts.
  LayoutPtr child;
  // `offsets` belong to a node of kind blocks, `entries` to a table; otherwise they are empty.
  std::vector<std::int64_t> offsets;
  std::vector<Entry> entries;
  std::vector<LayoutPtr> held;  // owns the nodes to which the entries point
};

// The number of data bytes in a table's entries, up to and including `entry`. Requires: the entry exists.
[[nodiscard]] inline std::uint64_t entry_end(const LayoutNode& table, std::uint64_t entry) {
  return entry + 1 < table.entries.size() ? table.entries[entry + 1].before : table.size;
}

// A node at an offset; no node: no bytes. It has two uses. As a type's layout it has the places of an element's bytes,
// and all leaves are 0. As a type's signature it describes the packed bytes, and a leaf is the handle of their
// predefined type.
struct Layout {
  LayoutPtr node;
  // From the element's address to the node's start, in bytes; may be negative.
  std::int64_t offset = 0;
  [[nodiscard]] std::uint64_t size() const { return node ? node->size : 0; }
  [[nodiscard]] bool is_run() const { return node && node->kind == LayoutNode::Kind::run; }
};

}  // namespace margay::mpi_adi
