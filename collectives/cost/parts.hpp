// The terms of cost formulas: the patterns in which algorithms send, each with its cost, and the cost of hybrids.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/cost/counts.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/topology/grid.hpp"

namespace margay::collectives {

// The factor for bytes that go both ways at once inside a node, where one rank copies into shared memory and out of it
// (measured: 1.6 to 2). Between nodes the two directions do not delay each other.
inline constexpr double kBothWays = 1.75;

// The cost of two steps, one after the other.
[[nodiscard]] Cost operator+(const Cost& first, const Cost& then);
// A total of all messages or bytes, and the part of it that crosses between nodes.
struct Split {
  double all = 0;
  double between = 0;
};
// Adds messages and their bytes to the work of all ranks together (Cost::all).
void add_sent(Cost& cost, const Split& messages, const Split& bytes);
// Adds messages that wait for one another, and their bytes, to the critical path (Cost::path).
void add_path(Cost& cost, const Split& messages, const Split& bytes);

// The number of messages for one body: two if its receiver first sends a ready notice, else one.
[[nodiscard]] double messages_of(double bytes, bool ask_always = false);

// Patterns along the spanning tree, rooted at rank 0: a broadcast, a reduction, and gathers and scatters with a block
// for each rank. `bytes`, `block`: of one rank. `awaited`: the receivers wait before the pattern begins, so their
// notices add nothing to the path.
[[nodiscard]] Cost tree_out(const Facts& facts, double bytes, bool awaited = false);
[[nodiscard]] Cost tree_in(const Facts& facts, double bytes);
[[nodiscard]] Cost tree_gather(const Facts& facts, double block);
[[nodiscard]] Cost tree_scatter(const Facts& facts, double block);
// Patterns flat inside each node, with the tree between the leaders.
[[nodiscard]] Cost nodes_out(const Facts& facts, double bytes, bool awaited = false);
[[nodiscard]] Cost nodes_in(const Facts& facts, double bytes);
// The time at which receivers send a ready notice before a block. if_long: in the pattern, if the block is longer than
// kHandshakeBytes. asks_always: in the pattern, for every block. awaited: as if_long, but before the pattern begins, so
// no sender waits for a notice.
enum class Dealing : std::uint8_t { if_long, asks_always, awaited };
// Rank 0 sends each other rank a block, or receives one from each.
[[nodiscard]] Cost deal(const Facts& facts, double block, Dealing how);

// Groups of equal size that are active at the same time. In each, every member sends a block to every other member.
struct Group {
  double members;
  double groups;
  // Ordered pairs on different nodes, of all groups.
  double pairs_between;
};
// One group of all ranks.
[[nodiscard]] Group all_of(const Facts& facts);
// The cost of the exchange in all groups. `asks_always`: each block waits for its receiver's notice.
[[nodiscard]] Cost all_to_all_in_groups(const Group& group, double block, bool asks_always);
// The same, and each member combines the received slices with its own.
[[nodiscard]] Cost combine_slices(const Group& group, double slice);

// Rings of equal size, all active at once. In ring_round() each member has a part of `part` bytes, which goes round the
// ring to all other members. `combined`: each member combines what arrives with its own data. `cut`: the number of
// rings in which one member has all parts from the start; it receives none, so these rings have one link fewer.
struct Rings {
  double members;
  double count;
  double far_links;  // links between nodes, of all rings
  double cut = 0;
};
[[nodiscard]] Cost ring_round(const Rings& rings, double part, bool combined);

// Recursive doubling in groups of equal size, all active at once. `n`: bytes of each member's row. `asks_always`: each
// row waits for its receiver's notice.
struct Doubling {
  int members;
  double groups;
  Crossing between;  // messages between nodes, of all groups
};
[[nodiscard]] Cost doubling(const Doubling& of, double n, bool asks_always);

// The number of pieces of a stream of `bytes` (kStreamPieceBytes each); 0 for no bytes.
[[nodiscard]] double pieces_of(double bytes);

// Patterns through shared memory of a node, without messages.

// Bytes that are written, read or combined in shared memory: on the critical path, and by all ranks together.
struct Moved {
  double path;
  double all;
};

// The cost of `count` shared-memory barriers. In each, a counter goes from rank to rank, then a flag is set.
[[nodiscard]] Cost barriers(double ranks, const Moved& moved, const Moved& combined, double count = 1);
// The number of barriers for `bytes` of each rank, strip by strip.
[[nodiscard]] double barriers_of(double bytes);
// Postings that are polled `polls` times. A poster does not wait for its readers. So the readers read the data of one
// call while the poster writes the data of the next call, and `moved.path` has the longer of the two.
[[nodiscard]] Cost post(double polls, const Moved& moved, const Moved& combined = {0, 0});
// A chain of postings: each rank reads the result of the ranks before it, and posts its own.
[[nodiscard]] Cost chain_of_posts(double n, double ranks);
// Data that is read in its owner's memory. The owner waits until the data is read, so owner and reader poll `polls`
// times each.
[[nodiscard]] Cost read_in_place(double polls, const Moved& moved);
// Each rank posts `shown` bytes and reads `read` bytes of each other rank.
[[nodiscard]] Cost post_by_all(double ranks, double shown, double read, const Moved& combined);

// Hybrids: the possible plans, and their cost. A plan's dimensions follow one another; all lines of one dimension are
// active at once.

// The possible plans of a hybrid: all that agree with the user's request, if there is one. Empty if no plan fits these
// nodes. `in_order`: the operation does not commute.
[[nodiscard]] std::vector<HybridPlan> hybrid_plans(Operation operation, const Facts& facts, bool in_order);
// Whether there is a plan for a call of `bytes`.
[[nodiscard]] bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// The cheapest plan; tries all. Requires: there is one.
[[nodiscard]] HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// The cost of one plan. A dimension with some lines that cross nodes counts as one between nodes.
[[nodiscard]] Cost cost_of_plan(const HybridPlan& plan, Operation operation, std::uint64_t bytes, const Facts& facts);

}  // namespace margay::collectives
