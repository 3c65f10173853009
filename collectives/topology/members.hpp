// Some of a communicator's ranks in an order of their own, and the spanning tree over a range of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace margay::collectives {

// The minimum spanning tree of a range of ranks (paper 001, section 3.1; Barnett et al.): the range is halved, the root
// sends to one rank of the other half, and both halves go on. A subtree is a contiguous range of ranks.

// One rank's place in the tree.
struct TreePlace {
  struct Child {
    int rank;
    int first, last;  // its subtree, inclusive
  };
  int self = 0;                 // this rank
  int parent = -1;              // -1: the root
  int first = 0, last = 0;      // this rank's own subtree, inclusive
  std::vector<Child> children;  // largest subtree first: the order to send in; receive in the reverse
};

// Requires: 0 <= root, rank < size.
[[nodiscard]] TreePlace spanning_tree(int size, int root, int rank);
// The tree of some ranks, by number: parent and children become ranks, `rank_of` their numbers. `self` and the ranges
// of the subtrees stay numbers.
template <typename RankOf>
[[nodiscard]] TreePlace of_ranks(TreePlace place, RankOf rank_of) {
  if (place.parent >= 0) place.parent = rank_of(place.parent);
  for (TreePlace::Child& child : place.children) child.rank = rank_of(child.rank);
  return place;
}

// This rank is number me() of them.
class Members {
 public:
  // The span stays.
  Members(std::span<const int> ranks, std::size_t me) : ranks_(ranks.data()), size_(ranks.size()), me_(me) {}
  // All, in the order of ranks.
  [[nodiscard]] static Members everybody(int size, int rank) {
    return {nullptr, static_cast<std::size_t>(size), static_cast<std::size_t>(rank)};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t me() const { return me_; }
  [[nodiscard]] int rank_of(std::size_t number) const {
    return ranks_ == nullptr ? static_cast<int>(number) : ranks_[number];
  }

 private:
  Members(const int* ranks, std::size_t size, std::size_t me) : ranks_(ranks), size_(size), me_(me) {}

  const int* ranks_;  // null: number n is rank n
  std::size_t size_;
  std::size_t me_;
};

// Their spanning tree, rooted at number `root`.
[[nodiscard]] inline TreePlace tree_of(const Members& members, std::size_t root) {
  const auto rank_of = [&](int number) { return members.rank_of(static_cast<std::size_t>(number)); };
  const auto number = [](std::size_t of) { return static_cast<int>(of); };
  return of_ranks(spanning_tree(number(members.size()), number(root), number(members.me())), rank_of);
}

}  // namespace margay::collectives
