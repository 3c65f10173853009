// A first-fit allocator in a bounded region, with all bookkeeping inside the region. Internal to portals.
//
// Invariants:
//   1. Every block, free or allocated, begins on a kGrain boundary, and its length is a multiple of kGrain.
//   2. No two free blocks are adjacent: neighbours are joined when one is freed.
//   3. The free blocks form a treap: a search tree by address, a heap by a random priority. Each node lies in the first
//      bytes of its free block and stores the length of the longest block in its subtree. So allocating and freeing
//      cost the logarithm of the number of free blocks, and "is there room" a constant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portals/base/region.hpp"

namespace margay::portals {

// The allocator. Allocated blocks carry no header, so the caller keeps the size. Used under the process lock only.
class Heap {
 public:
  // A cache line, long enough for the Node that a free block must hold.
  static constexpr std::size_t kGrain = 64;
  static_assert((kGrain & (kGrain - 1)) == 0);
  // Bytes that an allocation of `bytes` takes; at least one grain.
  [[nodiscard]] static constexpr std::uint64_t rounded(std::uint64_t bytes) {
    return bytes < kGrain ? kGrain : (bytes + (kGrain - 1)) & ~std::uint64_t{kGrain - 1};
  }

  // Requires: `memory` is aligned to 64 bytes and valid while the heap lives. A remainder shorter than a grain is not
  // used.
  explicit Heap(Buffer memory);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Whether allocate(bytes) would succeed. The comparison with capacity_ keeps rounded() from wrapping.
  [[nodiscard]] bool can_hold(std::uint64_t bytes) const {
    return root_ != nullptr && bytes <= capacity_ && rounded(bytes) <= root_->longest;
  }
  // Allocates `bytes` from the free block of lowest address that is long enough; nullptr when none is. The result is
  // aligned to kGrain, and its content is undefined.
  [[nodiscard]] std::byte* allocate(std::uint64_t bytes);
  // Requires: `block` came from allocate(bytes) with the same `bytes`, and has not been freed since. Joins the block
  // with its free neighbours (invariant 2).
  void free(std::byte* block, std::uint64_t bytes);

  // All in bytes: usable size, allocated now, and most ever allocated.
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t high_water() const { return high_water_; }
  // Number of free blocks, by a walk over them; for tests.
  [[nodiscard]] std::size_t free_blocks() const { return count(root_); }

 private:
  // The node of a free block, in its first bytes.
  struct Node {
    Node* left;
    Node* right;
    // Length of this free block, a multiple of kGrain.
    std::uint64_t bytes;
    // Length of the longest block in this subtree.
    std::uint64_t longest;
    // Random; a parent's is not lower than its children's.
    std::uint64_t priority;
  };
  static_assert(sizeof(Node) <= kGrain);

  [[nodiscard]] static std::byte* begin(Node* node) { return reinterpret_cast<std::byte*>(node); }
  [[nodiscard]] static std::byte* end(Node* node) { return begin(node) + node->bytes; }
  // Recomputes `longest` from the node and its children.
  static void update(Node& node);
  // Cuts `bytes` off the lowest block that is long enough.
  [[nodiscard]] static std::byte* take_first(Node*& root, std::uint64_t bytes);
  // The treap's operations. All keep `longest` right on the path that they change.
  [[nodiscard]] static Node* merge(Node* left, Node* right);
  // Divides a treap at an address.
  static void split(Node* root, const std::byte* at, Node*& left, Node*& right);
  static void erase(Node*& root, Node* node);
  static void insert(Node*& root, Node* node);
  // Recomputes `longest` on the path from `root` to a node whose block has grown.
  static void refresh(Node* root, const Node* down_to);
  [[nodiscard]] static std::size_t count(const Node* root);

  // nullptr: no block is free.
  Node* root_ = nullptr;
  std::byte* base_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t high_water_ = 0;
  // State of the priorities' generator. Its seed is fixed, so a run's heap behaves the same each time.
  std::uint64_t random_ = 0x9e37'79b9'7f4a'7c15;
};

}  // namespace margay::portals
