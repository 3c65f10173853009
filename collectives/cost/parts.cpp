#include "collectives/cost/parts.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/portal/collective.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/topology/crossings.hpp"

namespace margay::collectives {

namespace {

void add_load(Load& to, const Load& more) {
  to.messages += more.messages;
  to.bytes += more.bytes;
}

Split operator*(const Split& share, double factor) {
  return {share.all * factor, share.between * factor};
}

// The spanning tree's edges.
Split edges_of(const Facts& facts) {
  return {facts.ranks - 1.0, facts.crossings.tree.messages};
}

// Adds further messages of a rank whose first one has its start-up on the path already.
void add_busy(Cost& cost, const Split& further) {
  const double between = std::max(std::min(further.between, further.all), 0.0);
  cost.path.busy_between += between;
  cost.path.busy_inside += std::max(further.all, 0.0) - between;
}

// Messages of the leaders' tree, all of them between nodes; members_of(): between the leaders and their nodes' members.
Split leaders_of(const Facts& facts) {
  return {facts.nodes - 1.0, facts.nodes - 1.0};
}

Split members_of(const Facts& facts) {
  return {static_cast<double>(facts.ranks - facts.nodes), 0};
}

}  // namespace

Cost operator+(const Cost& first, const Cost& then) {
  Cost sum = first;
  add_load(sum.path.inside, then.path.inside);
  add_load(sum.path.between, then.path.between);
  sum.path.busy_inside += then.path.busy_inside;
  sum.path.busy_between += then.path.busy_between;
  sum.path.combined_bytes += then.path.combined_bytes;
  sum.path.shared_polls += then.path.shared_polls;
  sum.path.shared_bytes += then.path.shared_bytes;
  add_load(sum.all.inside, then.all.inside);
  add_load(sum.all.between, then.all.between);
  sum.all.combined_bytes += then.all.combined_bytes;
  sum.all.shared_polls += then.all.shared_polls;
  sum.all.shared_bytes += then.all.shared_bytes;
  sum.turns += then.turns;
  // A second step may wait for the first one's receivers.
  sum.one_way = false;
  return sum;
}

void add_sent(Cost& cost, const Split& messages, const Split& bytes) {
  add_load(cost.all.inside, {messages.all - messages.between, bytes.all - bytes.between});
  add_load(cost.all.between, {messages.between, bytes.between});
}

void add_path(Cost& cost, const Split& messages, const Split& bytes) {
  const double between = std::min(messages.between, messages.all);
  const double far_bytes = std::min(bytes.between, bytes.all);
  add_load(cost.path.inside, {messages.all - between, bytes.all - far_bytes});
  add_load(cost.path.between, {between, far_bytes});
  cost.turns += messages.all;
}

double messages_of(double bytes, bool ask_always) {
  return ask_always || bytes > static_cast<double>(kHandshakeBytes) ? 2 : 1;
}

Cost tree_out(const Facts& facts, double bytes, bool awaited) {
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double each = messages_of(bytes);
  const double steps = facts.crossings.tree.steps;
  const double depth = tree_depth(facts.ranks);
  const double children = rounds_of(facts.ranks);  // of the root
  add_sent(cost, edges_of(facts) * each, edges_of(facts) * bytes);
  // All receivers send their notices at once, so one is on the path.
  const double word = awaited ? 0 : each - 1;
  add_path(cost, {depth + word, steps + (steps > 0 ? word : 0)}, {children * bytes, steps * bytes});
  add_busy(cost, {(children - depth) * each, 0});
  cost.one_way = each == 1;
  return cost;
}

// A parent sends a child its ready notice only after it has received from the child before, so notices add to the
// depth.
Cost tree_in(const Facts& facts, double bytes) {
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double each = messages_of(bytes);
  const double steps = facts.crossings.tree.steps;
  const double depth = each > 1 ? tree_depth_with_notices(facts.ranks) : tree_depth(facts.ranks);
  const double children = rounds_of(facts.ranks);
  add_sent(cost, edges_of(facts) * each, edges_of(facts) * bytes);
  add_path(cost, {depth, each * steps}, {children * bytes, steps * bytes});
  if (each == 1) add_busy(cost, {children - depth, 0});
  cost.path.combined_bytes = children * bytes;
  cost.all.combined_bytes = edges_of(facts).all * bytes;
  cost.one_way = each == 1;
  return cost;
}

// A message waits for a ready notice if it has more blocks than fit a short one. Such messages come from the largest
// subtrees, whose edges lie between nodes if the ranks of each node are consecutive.
Cost tree_gather(const Facts& facts, double block) {
  Cost cost;
  if (facts.ranks == 1) return cost;
  const Crossings& crossings = facts.crossings;
  const Split blocks{tree_blocks(facts.ranks), crossings.tree_blocks};
  const double short_blocks = block > 0 ? std::floor(static_cast<double>(kHandshakeBytes) / block) : facts.ranks;
  const double words = tree_edges_above(facts.ranks, short_blocks);
  add_sent(cost, edges_of(facts), blocks * block);
  add_sent(cost, {words, std::min(words, crossings.tree.messages)}, {});
  const double depth = tree_depth(facts.ranks);
  const double steps = crossings.tree.steps;
  // If a leaf's block is long, its ready notice is on the path; notices further up travel meanwhile.
  const double first_word = messages_of(block) - 1;
  const double mine = facts.ranks - 1;  // blocks that the root receives, one behind the other
  add_path(cost, {depth + first_word, steps + (steps > 0 ? first_word : 0)},
           {mine * block, steps > 0 ? mine * block * std::min(1.0, blocks.between / blocks.all) : 0});
  add_busy(cost, {rounds_of(facts.ranks) - depth, 0});
  cost.one_way = words == 0;
  return cost;
}

Cost tree_scatter(const Facts& facts, double block) {
  Cost cost = tree_gather(facts, block);
  if (facts.ranks == 1) return cost;
  // All receivers ask at once, so only the notice for the root's first message is on the path.
  const double depth = tree_depth(facts.ranks);
  const double word = messages_of(block * (facts.ranks / 2)) - 1;
  const double change = depth + word - cost.path.depth();
  cost.path.inside.messages += change;
  cost.turns += change;
  return cost;
}

// A node's members, and the leaders, send their notices at once.
Cost nodes_out(const Facts& facts, double bytes, bool awaited) {
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double each = messages_of(bytes);
  const double steps = tree_depth(facts.nodes);
  const double rounds = rounds_of(facts.nodes);
  const double members = facts.most_on_node - 1;
  const double last = members > 0 ? 1 : 0;
  add_sent(cost, leaders_of(facts) * each, leaders_of(facts) * bytes);
  add_sent(cost, members_of(facts) * each, members_of(facts) * bytes);
  const double word = awaited ? 0 : each - 1;
  add_path(cost, {steps + last + word, steps + (steps > 0 ? word : 0)}, {(rounds + members) * bytes, rounds * bytes});
  add_busy(cost, {each * (rounds - steps + members - last), rounds - steps});
  cost.one_way = each == 1;
  return cost;
}

Cost nodes_in(const Facts& facts, double bytes) {
  Cost cost = nodes_out(facts, bytes);
  cost.path.combined_bytes = (rounds_of(facts.nodes) + facts.most_on_node - 1) * bytes;
  cost.all.combined_bytes = (facts.ranks - 1) * bytes;
  return cost;
}

Cost deal(const Facts& facts, double block, Dealing how) {
  Cost cost;
  if (facts.ranks == 1 || block == 0) return cost;
  const double each = messages_of(block, how == Dealing::asks_always);
  const Split bodies{facts.ranks - 1.0, static_cast<double>(facts.ranks - facts.on_first_node)};
  add_sent(cost, bodies * each, bodies * block);
  const double step = bodies.between > 0 ? 1 : 0;
  const double one = how == Dealing::awaited ? 1 : each;
  add_path(cost, {one, step * one}, bodies * block);
  add_busy(cost, {each * (bodies.all - 1), each * (bodies.between - step)});
  return cost;
}

Group all_of(const Facts& facts) {
  return {static_cast<double>(facts.ranks), 1, facts.crossings.pairs};
}

Cost all_to_all_in_groups(const Group& group, double block, bool asks_always) {
  Cost cost;
  if (group.members <= 1 || block == 0) return cost;
  const double each = messages_of(block, asks_always);
  const double ranks = group.members * group.groups;
  const Split pairs{ranks * (group.members - 1), group.pairs_between};
  add_sent(cost, pairs * each, pairs * block);
  const Split peers = pairs * (1 / ranks);
  // At most kDirectAtOnce are in progress at once; each turn waits for the one before.
  const double turns = std::ceil(peers.all / kDirectAtOnce);
  const double step = peers.between > 0 ? 1 : 0;
  add_path(cost, {turns * each, turns * each * step},
           {((peers.all - peers.between) * kBothWays + peers.between) * block, peers.between * block});
  // A rank sends to each other one and receives from each.
  add_busy(cost, Split{peers.all - turns, peers.between - turns * step} * (2 * each));
  return cost;
}

Cost combine_slices(const Group& group, double slice) {
  Cost cost = all_to_all_in_groups(group, slice, true);
  cost.path.combined_bytes = (group.members - 1) * slice;
  cost.all.combined_bytes = group.members * group.groups * (group.members - 1) * slice;
  return cost;
}

}  // namespace margay::collectives
