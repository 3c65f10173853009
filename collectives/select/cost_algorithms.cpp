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

// Rounds of a power of two; who is beyond it gives its part away before, and gets the result after.
Cost doubling(double n, const Facts& facts) {
  Cost cost;
  const double whole = std::bit_floor(static_cast<unsigned>(facts.ranks));
  const double beyond = facts.ranks - whole;
  const double rounds = tree_depth(facts.ranks);
  const double each = messages_of(n);
  const Crossing& between = facts.crossings.doubling;
  const double bodies = 2 * beyond + whole * rounds;
  add_sent(cost, {each * bodies, each * between.messages}, {bodies * n, between.messages * n});
  // Who waits for a part that is given away is late by that. Where nobody is asked it delays all but itself: it gets
  // its result late, too, if the one that differs from it in all bits is late. A result is asked for as soon as the
  // part is given away.
  const double late = each > 1 ? 2 : (2 * beyond > whole ? 1 : 0);
  const double outer = beyond > 0 ? late + 1 : 0;
  add_path(cost, {each * rounds + outer, each * between.steps},
           {((rounds - between.steps) * kBothWays + between.steps + (beyond > 0 ? 2 : 0)) * n, between.steps * n});
  cost.path.combined_bytes = (rounds + (beyond > 0 ? 1 : 0)) * n;
  cost.all.combined_bytes = (whole * rounds + beyond) * n;
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

// Each shows the others `shown` bytes; a counter tells who is last, a flag that all are there.
Cost meeting(const Facts& facts, double shown) {
  Cost cost;
  cost.path.shared_looks = facts.ranks;  // the counter goes from one to the next, then the flag
  cost.all.shared_looks = 2.0 * facts.ranks;
  cost.path.shared_bytes = shown;
  cost.all.shared_bytes = shown * facts.ranks;
  cost.turns = 1;
  return cost;
}

double pieces_of(double bytes) {
  return std::ceil(bytes / static_cast<double>(kStreamPieceBytes));
}

// Round the ring, each rank's part comes to all others. Each says once that it is ready.
Cost ring_round(const Facts& facts, double part, bool combined) {
  Cost cost;
  const double steps = facts.ranks - 1.0;
  if (steps == 0 || part == 0) return cost;
  const double pieces = pieces_of(part);
  const double ring = facts.crossings.ring;
  add_sent(cost, {facts.ranks + facts.ranks * steps * pieces, ring + ring * steps * pieces},
           {facts.ranks * steps * part, ring * steps * part});
  const double far = ring > 0 ? 1 : 0;
  // All links carry as much at once: the slowest one counts.
  add_path(cost, {steps + 1, std::min(ring, steps) + far},
           {(far > 0 ? 1 : kBothWays) * steps * part, far * steps * part});
  (far > 0 ? cost.path.busy_between : cost.path.busy_inside) += 2 * steps * (pieces - 1);
  if (combined) cost.path.combined_bytes = steps * part;
  if (combined) cost.all.combined_bytes = facts.ranks * steps * part;
  return cost;
}

// The same, but one has all of it from the start: the ring is cut before it.
Cost cut_ring_round(const Facts& facts, double part) {
  Cost cost = ring_round(facts, part, false);
  const double pieces = pieces_of(part);
  const double links = facts.ranks - 1.0;
  cost.all = {};
  const double each = 1 + links * pieces;
  const double chain = facts.crossings.chain;
  add_sent(cost, {links * each, chain * each}, {links * links * part, chain * links * part});
  return cost;
}

}  // namespace

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
      return doubling(n, facts);
  }
}

Cost shared_cost(Operation operation, double n, const Facts& facts) {
  const double ranks = facts.ranks;
  Cost cost = meeting(facts, operation == Operation::alltoall ? ranks * n : n);
  const auto reads = [&cost](double on_path, double in_all) {
    cost.path.shared_bytes += on_path;
    cost.all.shared_bytes += in_all;
  };
  const auto combines = [&cost](double on_path, double in_all) {
    cost.path.combined_bytes = on_path;
    cost.all.combined_bytes = in_all;
  };
  switch (operation) {
    case Operation::allreduce:
      reads(n, ranks * n);
      combines((ranks - 1) * n, (ranks - 1) * n);
      break;
    case Operation::reduce_scatter:
      reads(n, ranks * n);
      combines((ranks - 1) / ranks * n, (ranks - 1) * n);
      break;
    case Operation::allgather:
    case Operation::alltoall:
      reads((ranks - 1) * n, ranks * (ranks - 1) * n);
      break;
    case Operation::scan:
    case Operation::exscan:
      reads(ranks * n, ranks * (ranks + 1) / 2 * n);
      combines((ranks - 1) * n, ranks * (ranks - 1) / 2 * n);
      break;
    default:
      break;
  }
  return cost;
}

Cost bucket_cost(Operation operation, double n, const Facts& facts) {
  const double slice = n / facts.ranks;
  switch (operation) {
    case Operation::allgather:
      return ring_round(facts, n, false);
    case Operation::reduce_scatter:
      return ring_round(facts, slice, true);
    case Operation::bcast:
      return deal(facts, slice, Dealing::asks_always) + cut_ring_round(facts, slice);
    default:
      return ring_round(facts, slice, true) + ring_round(facts, slice, false);
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
