// Terms of the cost formulas: the patterns in which algorithms send, each with its cost, and the cost of hybrids.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/cost/counts.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/topology/grid.hpp"

namespace margay::collectives {

// Who copies into and out of memory that ranks share does both itself: bytes both ways at once take this many times as
// long as one way (1.6 to 2, measured). Between nodes they do not wait for each other.
inline constexpr double kBothWays = 1.75;

// One after the other.
[[nodiscard]] Cost operator+(const Cost& first, const Cost& then);
// So much in all, and of that between nodes.
struct Split {
  double all = 0;
  double between = 0;
};
// Messages that are sent, and their bytes.
void add_sent(Cost& cost, const Split& messages, const Split& bytes);
// Messages that follow each other, and the bytes that do.
void add_path(Cost& cost, const Split& messages, const Split& bytes);

// Messages that a body takes: where it is asked for, its receiver's word too.
[[nodiscard]] double messages_of(double bytes, bool ask_always = false);

// The spanning tree, rooted at rank 0: a broadcast, a reduction; gathers and scatters of a block of each. `awaited`:
// its receivers wait for it before it can begin, so that their words add nothing to the path.
[[nodiscard]] Cost tree_out(const Facts& facts, double bytes, bool awaited = false);
[[nodiscard]] Cost tree_in(const Facts& facts, double bytes);
[[nodiscard]] Cost tree_gather(const Facts& facts, double block);
[[nodiscard]] Cost tree_scatter(const Facts& facts, double block);
// Flat inside each node, the tree between leaders.
[[nodiscard]] Cost nodes_out(const Facts& facts, double bytes, bool awaited = false);
[[nodiscard]] Cost nodes_in(const Facts& facts, double bytes);
// Rank 0 gives each other rank a block of its own, or gets one from each.
enum class Dealing : std::uint8_t { as_long_as_it_is, asks_always, awaited };
[[nodiscard]] Cost deal(const Facts& facts, double block, Dealing how);

// Groups of as many members each, all at once; in each, every member sends every other one a block.
struct Group {
  double members;
  double groups;
  double pairs_between;  // ordered pairs, of all groups, that are on different nodes
};
[[nodiscard]] Group all_of(const Facts& facts);
[[nodiscard]] Cost everybody_to_everybody(const Group& group, double block, bool asks_always);
// The same, and each combines what it gets with its own.
[[nodiscard]] Cost combine_slices(const Group& group, double slice);

// Round rings of as many members each, all at once: each one's part of `part` bytes comes to all others of its ring.
// `cut`: of so many rings one member each has all from the start, and gets nothing.
struct Rings {
  double members;
  double count;
  double far_links;  // of all rings, between nodes
  double cut = 0;
};
[[nodiscard]] Cost ring_round(const Rings& rings, double part, bool combined);

// Recursive doubling in groups of as many members each, all at once.
struct Doubling {
  int members;
  double groups;
  Crossing between;  // of all groups
};
[[nodiscard]] Cost doubling(const Doubling& of, double n, bool asks_always);

// Pieces of a stream of so many bytes.
[[nodiscard]] double pieces_of(double bytes);

// Calls through memory that all ranks of a node see, in which no message is sent.

// Bytes that are written or read there, and that are combined: on the path, and of all ranks.
struct Moved {
  double path;
  double all;
};

// All show something, `meetings` times; a counter goes from one to the next, then a flag is set: all are there.
[[nodiscard]] Cost meet(double ranks, const Moved& moved, const Moved& combined, double meetings = 1);
// So many are needed for `bytes` of each rank, strip by strip.
[[nodiscard]] double meetings_of(double bytes);
// Nobody waits for those that read, so of calls that follow each other one is read while the next one is written: on
// the path is the longer of the two.
[[nodiscard]] Cost post(double looks, const Moved& moved, const Moved& combined = {0, 0});
// A chain of ranks: each reads what the ranks before it come to, and shows what it makes of that.
[[nodiscard]] Cost chain_of_posts(double n, double ranks);
// What is read where it lies: who shows it waits until it is read.
[[nodiscard]] Cost read_in_place(double looks, const Moved& moved);
// Each shows `shown` bytes and reads `read` of those of all others.
[[nodiscard]] Cost post_by_all(double ranks, double shown, double read, const Moved& combined);

// What a hybrid costs, dimension by dimension of its plan, all lines of one at once; and which plans it may go by.

// The plans that a hybrid of this operation may go by: the one that was asked for, or all for which what was asked for
// leaves room. Empty: there is none on these nodes.
[[nodiscard]] std::vector<HybridPlan> hybrid_plans(Operation operation, const Facts& facts, bool in_order);
// Whether there is one for a call of `bytes`.
[[nodiscard]] bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// The cheapest of them. Requires: there is one.
[[nodiscard]] HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// Of one plan, whose dimensions lie inside nodes or between them; one that goes across counts as between.
[[nodiscard]] Cost cost_of_plan(const HybridPlan& plan, Operation operation, std::uint64_t bytes, const Facts& facts);

}  // namespace margay::collectives
