// Reduction along the minimum spanning tree: each rank combines its children's parts with its own and sends the
// result up. Cost: ceil(log2 p) (α + n β + n γ).
//
// An operation that does not commute is combined in the order of ranks: a child's subtree is the range of ranks
// directly below or above those combined before it.
#include <cstring>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps reduce_along(Collective& collective, TreePlace place, std::byte* partial, std::size_t count, std::uint64_t bytes,
                   Reducer combine) {
  Scratch incoming(collective, place.children.empty() ? 0 : bytes);
  std::byte* mine = partial;
  std::byte* theirs = incoming.base();
  // Smallest subtree first: it is ready first, and it is the range of ranks beside those that are combined already.
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    co_await Receive(collective, child->rank, portals::Region(theirs, bytes));
    if (bytes == 0 || collective.error_class() != MPI_SUCCESS) continue;
    // `combine` leaves the result where its right operand was: the higher ranks' part.
    if (!combine.commutative() && child->first > place.self) std::swap(mine, theirs);
    combine(theirs, mine, count);
  }
  if (place.parent >= 0) {
    co_await Send(collective, place.parent, portals::Region(mine, bytes));
    co_await Flush(collective);
  } else if (mine != partial) {
    std::memcpy(partial, mine, bytes);
  }
}

Steps reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                  Reducer combine) {
  return reduce_along(collective, spanning_tree(collective.size(), root, collective.rank()), partial, count,
                      count * element_bytes, combine);
}

extern constinit const Row<ReduceCall> reduce_by_tree{
    {Algorithm::tree, always, [](const Ask& ask) { return tree_in(ask.facts, ask.n()); }},
    [](Collective& collective, const Means& /*means*/, const ReduceCall& call) {
      return reduce_tree(collective, call.root, call.reduction.partial, call.reduction.count,
                         call.reduction.element_bytes, call.reduction.combine);
    }};

}  // namespace margay::collectives
