// First fit in a bounded region, with all bookkeeping inside the region. Internal to portals.
//
// Invariants:
//   1. Every block, free or taken, begins on a kGrain boundary and is a multiple of kGrain long.
//   2. No two free blocks touch: neighbours are joined when one is freed.
//   3. The free blocks form a treap: a search tree by address, a heap by a random priority. Each node lies in the first
//      bytes of the free block that it stands for and knows the longest block below it, so that first fit, joining and
//      "is there room" cost the logarithm of the number of free blocks, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portals/base/region.hpp"

namespace margay::portals {

class Heap {
 public:
  static constexpr std::size_t kGrain = 64;
  static_assert((kGrain & (kGrain - 1)) == 0);
  // What an allocation of `bytes` takes.
  [[nodiscard]] static constexpr std::uint64_t rounded(std::uint64_t bytes) {
    return bytes < kGrain ? kGrain : (bytes + (kGrain - 1)) & ~std::uint64_t{kGrain - 1};
  }

  // Requires: `memory` is 64-byte aligned and valid while the heap lives. A tail shorter than a grain is left unused.
  explicit Heap(Buffer memory);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Whether allocate(bytes) would succeed.
  [[nodiscard]] bool can_hold(std::uint64_t bytes) const {
    return root_ != nullptr && bytes <= capacity_ && rounded(bytes) <= root_->longest;
  }
  // The first block, lowest address first, that has `bytes`; nullptr when none has.
  [[nodiscard]] std::byte* allocate(std::uint64_t bytes);
  // Requires: `block` came from allocate(bytes) and was not freed since.
  void free(std::byte* block, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t high_water() const { return high_water_; }
  // Walks the free blocks; for tests.
  [[nodiscard]] std::size_t free_blocks() const { return count(root_); }

 private:
  struct Node {
    Node* left;
    Node* right;
    std::uint64_t bytes;
    std::uint64_t longest;  // in this subtree
    std::uint64_t priority;
  };
  static_assert(sizeof(Node) <= kGrain);

  [[nodiscard]] static std::byte* begin(Node* node) { return reinterpret_cast<std::byte*>(node); }
  [[nodiscard]] static std::byte* end(Node* node) { return begin(node) + node->bytes; }
  static void update(Node& node);
  [[nodiscard]] static std::byte* take_first(Node*& root, std::uint64_t bytes);
  [[nodiscard]] static Node* merge(Node* left, Node* right);
  static void split(Node* root, const std::byte* at, Node*& left, Node*& right);
  static void erase(Node*& root, Node* node);
  static void insert(Node*& root, Node* node);
  static void refresh(Node* root, const Node* down_to);
  [[nodiscard]] static std::size_t count(const Node* root);

  Node* root_ = nullptr;
  std::byte* base_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t high_water_ = 0;
  std::uint64_t random_ = 0x9e37'79b9'7f4a'7c15;
};

}  // namespace margay::portals
