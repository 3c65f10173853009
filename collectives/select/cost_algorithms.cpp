// The formulas of algorithms that are no composition of trees.
#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/cost_parts.hpp"
#include "collectives/topology/crossings.hpp"

namespace margay::collectives {

namespace {

Cost dissemination(const Facts& facts) {
  Cost cost;
  const double rounds = rounds_of(facts.ranks);
  const Crossing& between = facts.crossings.rounds;
  add_sent(cost, {rounds * facts.ranks, between.messages}, {});
  add_path(cost, {rounds, static_cast<double>(between.steps)}, {});
  return cost;
}

// Who has the upper range of ranks combines twice, the other one once.
Cost scan_rounds(double n, const Facts& facts) {
  Cost cost;
  const double rounds = rounds_of(facts.ranks);
  const double each = messages_of(n);
  const double bodies = scan_partners(facts.ranks);
  const Crossing& between = facts.crossings.partners;
  add_sent(cost, {each * bodies, each * between.messages}, {bodies * n, between.messages * n});
  add_path(cost, {each * rounds, each * between.steps},
           {((rounds - between.steps) * kBothWays + between.steps) * n, between.steps * n});
  cost.path.combined_bytes = 2 * rounds * n;
  cost.all.combined_bytes = 1.5 * bodies * n;
  return cost;
}

double pieces_of(double bytes) {
  return std::ceil(bytes / static_cast<double>(kStreamPieceBytes));
}

}  // namespace

// Rounds of a power of two; who is beyond it gives its part away before, and gets the result after.
Cost doubling(const Doubling& of, double n, bool asks_always) {
  Cost cost;
  if (of.members == 1) return cost;
  const double whole = std::bit_floor(static_cast<unsigned>(of.members));
  const double beyond = of.members - whole;
  const double rounds = tree_depth(of.members);
  const double each = messages_of(n, asks_always);
  const double bodies = (2 * beyond + whole * rounds) * of.groups;
  const double steps = of.between.steps;
  add_sent(cost, {each * bodies, each * of.between.messages}, {bodies * n, of.between.messages * n});
  // Who waits for a part that is given away is late by that. Where nobody is asked it delays all but itself: it gets
  // its result late, too, if the one that differs from it in all bits is late. A result is asked for as soon as the
  // part is given away.
  const double late = each > 1 ? 2 : (2 * beyond > whole ? 1 : 0);
  const double outer = beyond > 0 ? late + 1 : 0;
  const double far = std::min(steps, rounds);
  add_path(cost, {each * rounds + outer, each * steps},
           {((rounds - far) * kBothWays + far + (beyond > 0 ? 2 : 0)) * n, steps * n});
  cost.path.combined_bytes = (rounds + (beyond > 0 ? 1 : 0)) * n;
  cost.all.combined_bytes = (whole * rounds + beyond) * of.groups * n;
  return cost;
}

// Each says once that it is ready, to the one before it.
Cost ring_round(const Rings& rings, double part, bool combined) {
  Cost cost;
  const double steps = rings.members - 1;
  if (steps == 0 || part == 0) return cost;
  const double pieces = pieces_of(part);
  // A ring that is cut has one link fewer, and whose member has all sends as much as the others.
  const double links = rings.members * rings.count - rings.cut;
  const double words_and_bodies = 1 + steps * pieces;
  add_sent(cost, {links * words_and_bodies, rings.far_links * words_and_bodies},
           {links * steps * part, rings.far_links * steps * part});
  const double far = rings.far_links > 0 ? 1 : 0;
  const double far_steps = rings.far_links / rings.count;
  // All links carry as much at once: the slowest one counts.
  add_path(cost, {steps + 1, std::min(far_steps, steps) + far},
           {(far > 0 ? 1 : kBothWays) * steps * part, far * steps * part});
  (far > 0 ? cost.path.busy_between : cost.path.busy_inside) += 2 * steps * (pieces - 1);
  if (combined) cost.path.combined_bytes = steps * part;
  if (combined) cost.all.combined_bytes = links * steps * part;
  return cost;
}

Cost exchange_cost(Operation operation, double n, const Facts& facts) {
  if (facts.ranks == 1) return {};
  switch (operation) {
    case Operation::barrier:
      return dissemination(facts);
    case Operation::allgather:
      return everybody_to_everybody(all_of(facts), n, false);
    case Operation::scan:
    case Operation::exscan:
      return scan_rounds(n, facts);
    default:
      return doubling({facts.ranks, 1, facts.crossings.doubling}, n, false);
  }
}

Cost bucket_cost(Operation operation, double n, const Facts& facts) {
  const double ranks = facts.ranks;
  const double slice = n / ranks;
  const Rings ring{ranks, 1, facts.crossings.ring};
  switch (operation) {
    case Operation::allgather:
      return ring_round(ring, n, false);
    case Operation::reduce_scatter:
      return ring_round(ring, slice, true);
    case Operation::bcast:
      return deal(facts, slice, Dealing::asks_always) + ring_round({ranks, 1, facts.crossings.chain, 1}, slice, false);
    default:
      return ring_round(ring, slice, true) + ring_round(ring, slice, false);
  }
}

// Long rows in pieces: all ranks work at once.
Cost chain_cost(double n, const Facts& facts) {
  Cost cost;
  const double steps = facts.ranks - 1.0;
  if (steps == 0) return cost;
  const double chain = facts.crossings.chain;
  const bool streams = messages_of(n) > 1;
  const double pieces = streams ? pieces_of(n) : 1;
  const double word = streams ? 1 : 0;
  const double first = streams ? std::min(n, static_cast<double>(kStreamPieceBytes)) : n;
  const double far = chain > 0 ? 1 : 0;
  add_sent(cost, {steps * (pieces + word), chain * (pieces + word)}, {steps * n, chain * n});
  add_path(cost, {steps + word, chain + word * far},
           {n + (steps - 1) * first, std::min(far * n + (chain - far) * first, n + (steps - 1) * first)});
  cost.path.combined_bytes = n + (steps - 1) * first;
  cost.all.combined_bytes = steps * n;
  cost.one_way = !streams;
  return cost;
}

}  // namespace margay::collectives
