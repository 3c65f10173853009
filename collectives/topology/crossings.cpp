#include "collectives/topology/crossings.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

namespace margay::collectives {

namespace {

using Nodes = std::span<const std::uint32_t>;

// The sizes of the root's subtrees in the spanning tree of `ranks` consecutive ranks, largest first. The root is the
// first rank of the range, and the root of each subtree is the first rank of that subtree.
std::vector<int> subtrees(int ranks) {
  std::vector<int> sizes;
  for (; ranks > 1; ranks -= ranks / 2) sizes.push_back(ranks / 2);
  return sizes;
}

// Counts the tree of [first, first + ranks), rooted at `first`. Returns the largest number of crossings on the way to a
// leaf.
int walk_tree(Nodes nodes, int first, int ranks, Crossings& out) {
  int most = 0;
  int end = first + ranks;
  for (const int size : subtrees(ranks)) {
    end -= size;
    const bool crosses = nodes[static_cast<std::size_t>(first)] != nodes[static_cast<std::size_t>(end)];
    if (crosses) {
      ++out.tree.messages;
      out.tree_blocks += size;
    }
    most = std::max(most, (crosses ? 1 : 0) + walk_tree(nodes, end, size, out));
  }
  return most;
}

// Counts a round in which each rank sends to partner(rank). A rank that is its own partner sends nothing.
template <typename Partner>
void add_round(Nodes nodes, Crossing& out, Partner partner) {
  double crossing = 0;
  for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] != nodes[static_cast<std::size_t>(partner(rank))]) ++crossing;
  }
  out.messages += crossing;
  out.steps += crossing > 0 ? 1 : 0;
}

Crossing doubling_of(Nodes nodes) {
  const int size = static_cast<int>(nodes.size());
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int paired = 2 * (size - whole);
  Crossing out;
  // Among the first `paired` ranks only the even ones take part in the rounds. Each odd one sends its part to the even
  // one before the rounds, and receives the result after them.
  const auto plays = [&](int rank) { return rank >= paired || rank % 2 == 0; };
  for (int distance = 1; distance < whole; distance *= 2) {
    add_round(nodes, out, [&](int rank) {
      if (!plays(rank)) return rank;
      const int other = (rank < paired ? rank / 2 : rank - paired / 2) ^ distance;
      return 2 * other < paired ? 2 * other : other + paired / 2;
    });
  }
  const auto odd_to_even = [&](int rank) { return plays(rank) ? rank : rank - 1; };
  add_round(nodes, out, odd_to_even);
  add_round(nodes, out, odd_to_even);  // and back
  return out;
}

}  // namespace

Crossings crossings_of(std::span<const std::uint32_t> nodes) {
  Crossings out;
  const int size = static_cast<int>(nodes.size());
  std::unordered_map<std::uint32_t, double> members;
  for (const std::uint32_t node : nodes) ++members[node];
  // One node: nothing crosses, and the rounds below need not be counted.
  if (members.size() == 1) return out;
  out.pairs = static_cast<double>(size) * size;
  for (const auto& [node, count] : members) out.pairs -= count * count;
  out.tree.steps = walk_tree(nodes, 0, size, out);
  for (int distance = 1; distance < size; distance *= 2) {
    add_round(nodes, out.rounds, [&](int rank) { return (rank + distance) % size; });
    add_round(nodes, out.partners, [&](int rank) { return (rank ^ distance) < size ? rank ^ distance : rank; });
  }
  out.doubling = doubling_of(nodes);
  Crossing ring;
  add_round(nodes, ring, [&](int rank) { return (rank + 1) % size; });
  out.ring = ring.messages;
  // The ring without its closing link, from the last rank to the first.
  out.chain = ring.messages - (nodes.front() != nodes.back() ? 1 : 0);
  return out;
}

int tree_depth(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks)) - 1;
}

int tree_depth_with_notices(int ranks) {
  // The subtrees of one level have at most two sizes, so the depth of each size is computed once.
  std::vector<std::pair<int, int>> known;
  const auto depth = [&known](auto& again, int size) -> int {
    for (const auto& [of, is] : known) {
      if (of == size) return is;
    }
    std::vector<int> sizes = subtrees(size);
    std::ranges::reverse(sizes);
    int now = 0;
    for (const int child : sizes) now = std::max(now + 1, again(again, child)) + 1;
    known.emplace_back(size, now);
    return now;
  };
  return depth(depth, ranks);
}

double tree_blocks(int ranks) {
  if (ranks == 1) return 0;
  const int half = ranks / 2;
  return half + tree_blocks(half) + tree_blocks(ranks - half);
}

double tree_edges_above(int ranks, double least) {
  const int half = ranks / 2;
  if (half == 0 || half <= least) return 0;
  return 1 + tree_edges_above(half, least) + tree_edges_above(ranks - half, least);
}

double scan_partners(int ranks) {
  double partners = 0;
  for (int distance = 1; distance < ranks; distance *= 2) {
    // Whole groups of 2 * distance ranks form pairs. In the incomplete last group only ranks whose partner exists
    // count.
    const int beyond = ranks % (2 * distance);
    partners += ranks - beyond + 2 * std::max(beyond - distance, 0);
  }
  return partners;
}

int rounds_of(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks) - 1U);
}

}  // namespace margay::collectives
