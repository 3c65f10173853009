#include "collectives/topology/members.hpp"

namespace margay::collectives {

TreePosition spanning_tree(int size, int root, int rank) {
  TreePosition position;
  position.self = rank;
  int first = 0;
  int last = size - 1;
  // The root's subtree is the whole range. Every other rank gets its subtree below, where it becomes the root of a
  // half.
  if (rank == root) position.last = last;
  while (first < last) {
    const int middle = first + (last - first) / 2;
    const bool root_below = root <= middle;
    // The other half, rooted at its rank next to the middle.
    const TreePosition::Child other =
        root_below ? TreePosition::Child{middle + 1, middle + 1, last} : TreePosition::Child{middle, first, middle};
    if (rank == root) position.children.push_back(other);
    // Continues in the half that has `rank`, under that half's root.
    if (rank >= other.first && rank <= other.last) {
      if (rank == other.rank) {
        position.parent = root;
        position.first = other.first;
        position.last = other.last;
      }
      root = other.rank;
      first = other.first;
      last = other.last;
    } else if (root_below) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return position;
}

}  // namespace margay::collectives
