// Rounds between partners, and round a ring: costs declared in parts.hpp.
#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/cost/parts.hpp"
#include "collectives/portal/stream.hpp"
#include "collectives/topology/crossings.hpp"

namespace margay::collectives {

double pieces_of(double bytes) {
  return std::ceil(bytes / static_cast<double>(kStreamPieceBytes));
}

// The rounds of a power of two of ranks. A rank beyond it sends its part before, and receives the result after.
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
  // A rank that waits for such a part begins the rounds late. Without ready notices, this delays all ranks but the late
  // one: its partners' messages have arrived meanwhile. Its own result is late only if the rank whose number differs
  // from its own in all bits is late, too; such a pair exists if 2 * beyond > whole. The ready notice for a result
  // leaves as soon as the part is sent, so it is not on the path.
  const double late = each > 1 ? 2 : (2 * beyond > whole ? 1 : 0);
  const double outer = beyond > 0 ? late + 1 : 0;
  const double far = std::min(steps, rounds);
  add_path(cost, {each * rounds + outer, each * steps},
           {((rounds - far) * kBothWays + far + (beyond > 0 ? 2 : 0)) * n, steps * n});
  cost.path.combined_bytes = (rounds + (beyond > 0 ? 1 : 0)) * n;
  cost.all.combined_bytes = (whole * rounds + beyond) * of.groups * n;
  return cost;
}

// Each rank sends one notice, to the rank before it in the ring.
Cost ring_round(const Rings& rings, double part, bool combined) {
  Cost cost;
  const double steps = rings.members - 1;
  if (steps == 0 || part == 0) return cost;
  const double pieces = pieces_of(part);
  // A cut ring has one link fewer; the member that has all parts sends as much as the others.
  const double links = rings.members * rings.count - rings.cut;
  const double words_and_bodies = 1 + steps * pieces;
  add_sent(cost, {links * words_and_bodies, rings.far_links * words_and_bodies},
           {links * steps * part, rings.far_links * steps * part});
  const double far = rings.far_links > 0 ? 1 : 0;
  const double far_steps = rings.far_links / rings.count;
  // All links carry the same amount at once, so the slowest one counts.
  add_path(cost, {steps + 1, std::min(far_steps, steps) + far},
           {(far > 0 ? 1 : kBothWays) * steps * part, far * steps * part});
  (far > 0 ? cost.path.busy_between : cost.path.busy_inside) += 2 * steps * (pieces - 1);
  if (combined) cost.path.combined_bytes = steps * part;
  if (combined) cost.all.combined_bytes = links * steps * part;
  return cost;
}

}  // namespace margay::collectives
