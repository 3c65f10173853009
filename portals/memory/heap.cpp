#include "portals/memory/heap.hpp"

#include <algorithm>
#include <new>

#include "portals/base/assert.hpp"

namespace margay::portals {

Heap::Heap(Buffer memory) : base_(memory.base), capacity_(memory.bytes / kGrain * kGrain) {
  MARGAY_ASSERT(reinterpret_cast<std::uintptr_t>(base_) % kGrain == 0);
  // Only the first page is touched, so a large heap takes memory only as it is used.
  if (capacity_ > 0) root_ = new (base_) Node{nullptr, nullptr, capacity_, capacity_, random_};
}

// Called from the bottom of a changed path to its top, so that `longest` of both children is right.
void Heap::update(Node& node) {
  node.longest = node.bytes;
  if (node.left != nullptr) node.longest = std::max(node.longest, node.left->longest);
  if (node.right != nullptr) node.longest = std::max(node.longest, node.right->longest);
}

std::byte* Heap::allocate(std::uint64_t bytes) {
  if (!can_hold(bytes)) return nullptr;
  const std::uint64_t taken = rounded(bytes);
  used_ += taken;
  MARGAY_ASSERT(used_ <= capacity_);
  high_water_ = std::max(high_water_, used_);
  return take_first(root_, taken);
}

// Requires: root->longest >= bytes.
std::byte* Heap::take_first(Node*& root, std::uint64_t bytes) {
  MARGAY_ASSERT(root->longest >= bytes && bytes % kGrain == 0);
  std::byte* block = nullptr;
  // Left first, because addresses grow to the right: the lowest block that is long enough.
  if (root->left != nullptr && root->left->longest >= bytes) {
    block = take_first(root->left, bytes);
  } else if (root->bytes < bytes) {
    block = take_first(root->right, bytes);
  } else {
    block = begin(root);
    if (root->bytes == bytes) {
      root = merge(root->left, root->right);
      return block;
    }
    // The remainder stays between the same neighbours, so its node keeps its place in the tree.
    root = new (block + bytes) Node{root->left, root->right, root->bytes - bytes, 0, root->priority};
  }
  update(*root);
  return block;
}

void Heap::free(std::byte* block, std::uint64_t bytes) {
  const std::uint64_t given = rounded(bytes);
  MARGAY_ASSERT(block >= base_ && block + given <= base_ + capacity_ && used_ >= given);
  used_ -= given;
  // The free neighbours of the block, by address.
  Node* before = nullptr;
  Node* after = nullptr;
  for (Node* node = root_; node != nullptr;) {
    if (begin(node) < block) {
      before = node;
      node = node->right;
    } else {
      after = node;
      node = node->left;
    }
  }
  MARGAY_ASSERT(before == nullptr || end(before) <= block);
  MARGAY_ASSERT(after == nullptr || block + given <= begin(after));
  std::uint64_t joined = given;
  if (after != nullptr && begin(after) == block + given) {
    joined += after->bytes;
    // A free block after the freed one leaves the tree, because its node lies in the middle of the joined block. A free
    // block before the freed one keeps its node, and grows.
    erase(root_, after);
  }
  if (before != nullptr && end(before) == block) {
    // The address of `before` stays, and so does its place in the tree; only `longest` changes, in it and above it.
    before->bytes += joined;
    refresh(root_, before);
    return;
  }
  // xorshift64 (Marsaglia).
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  insert(root_, new (block) Node{nullptr, nullptr, joined, joined, random_});
}

// Joins two treaps; the node with the highest priority becomes the root. Requires: all addresses in `left` are lower
// than those in `right`.
Heap::Node* Heap::merge(Node* left, Node* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  if (left->priority > right->priority) {
    left->right = merge(left->right, right);
    update(*left);
    return left;
  }
  right->left = merge(left, right->left);
  update(*right);
  return right;
}

// The reverse of merge(): nodes below `at` go left, the others right.
void Heap::split(Node* root, const std::byte* at, Node*& left, Node*& right) {
  if (root == nullptr) {
    left = nullptr;
    right = nullptr;
  } else if (begin(root) < at) {
    split(root->right, at, root->right, right);
    left = root;
    update(*root);
  } else {
    split(root->left, at, left, root->left);
    right = root;
    update(*root);
  }
}

void Heap::erase(Node*& root, Node* node) {
  MARGAY_ASSERT(root != nullptr);
  if (root == node) {
    root = merge(node->left, node->right);
    return;
  }
  erase(begin(node) < begin(root) ? root->left : root->right, node);
  update(*root);
}

void Heap::insert(Node*& root, Node* node) {
  if (root == nullptr || node->priority > root->priority) {
    split(root, begin(node), node->left, node->right);
    root = node;
  } else {
    insert(begin(node) < begin(root) ? root->left : root->right, node);
  }
  update(*root);
}

// A grown block changes `longest` only in its own node and in those above it.
void Heap::refresh(Node* root, const Node* down_to) {
  if (root != down_to)
    refresh(reinterpret_cast<const std::byte*>(down_to) < begin(root) ? root->left : root->right, down_to);
  update(*root);
}

std::size_t Heap::count(const Node* root) {
  return root == nullptr ? 0 : count(root->left) + 1 + count(root->right);
}

}  // namespace margay::portals
