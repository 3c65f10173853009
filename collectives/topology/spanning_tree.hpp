// The minimum spanning tree of a range of ranks (paper 001, section 3.1; Barnett et al.): the range is halved, the root
// sends to one rank of the other half, and both halves go on. A subtree is a contiguous range of ranks.
#pragma once

#include <vector>

namespace margay::collectives {

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

}  // namespace margay::collectives
