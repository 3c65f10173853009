// A list of ranks of a communicator in an order of its own, and the spanning tree over it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace margay::collectives {

// The minimum spanning tree of a range of ranks (paper 001, section 3.1; Barnett et al.): the range is halved, the root
// sends to one rank of the other half, and both halves continue. A subtree is a contiguous range of ranks.

// One rank's position in the tree.
struct TreePosition {
  // A child, and the ranks for which it is responsible.
  struct Child {
    int rank;
    int first, last;  // range of its subtree, inclusive
  };
  int self = 0;             // this rank
  int parent = -1;          // -1 at the root
  int first = 0, last = 0;  // this rank's own subtree, inclusive
  // Largest subtree first: send in this order; receive in reverse, because the smallest is ready first.
  std::vector<Child> children;
};

// The position of `rank` in the tree of `size` ranks. O(log size). Requires: 0 <= root, rank < size.
[[nodiscard]] TreePosition spanning_tree(int size, int root, int rank);
// Translates a position among numbered ranks: parent and children become ranks by `rank_of`. `self` and the ranges of
// the subtrees stay numbers.
template <typename RankOf>
[[nodiscard]] TreePosition of_ranks(TreePosition position, RankOf rank_of) {
  if (position.parent >= 0) position.parent = rank_of(position.parent);
  for (TreePosition::Child& child : position.children) child.rank = rank_of(child.rank);
  return position;
}

// A list of ranks. A rank's index in the list is its number; this rank's number is me().
class Members {
 public:
  // `ranks` outlives it.
  Members(std::span<const int> ranks, std::size_t me) : ranks_(ranks.data()), size_(ranks.size()), me_(me) {}
  // All `size` ranks in their order; allocates nothing.
  [[nodiscard]] static Members all_members(int size, int rank) {
    // A null list stands for all ranks, so a communicator of thousands needs none.
    return {nullptr, static_cast<std::size_t>(size), static_cast<std::size_t>(rank)};
  }

  // The number of ranks, and this rank's number among them.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t me() const { return me_; }
  // The rank with a number. Requires: number < size().
  [[nodiscard]] int rank_of(std::size_t number) const {
    return ranks_ == nullptr ? static_cast<int>(number) : ranks_[number];
  }

 private:
  // Stores a pointer instead of a span, because null means all ranks.
  Members(const int* ranks, std::size_t size, std::size_t me) : ranks_(ranks), size_(size), me_(me) {}

  const int* ranks_;  // null: number n is rank n
  std::size_t size_;
  std::size_t me_;
};

// This rank's position in the spanning tree of `members`, rooted at number `root`.
[[nodiscard]] inline TreePosition tree_of(const Members& members, std::size_t root) {
  const auto rank_of = [&](int number) { return members.rank_of(static_cast<std::size_t>(number)); };
  const auto number = [](std::size_t of) { return static_cast<int>(of); };
  return of_ranks(spanning_tree(number(members.size()), number(root), number(members.me())), rank_of);
}

}  // namespace margay::collectives
