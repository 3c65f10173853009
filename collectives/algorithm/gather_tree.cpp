// Gather along the minimum spanning tree: a subtree is a range of ranks, so each inner rank's part is one contiguous
// run. Cost: ceil(log2 p) α + (p - 1)/p n β, n the whole result.
#include <deque>
#include <memory>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

Steps gather_tree(Collective& collective, int root, portals::Region mine, std::uint64_t block_bytes, std::byte* all) {
  const TreePlace place = spanning_tree(collective.size(), root, collective.rank());
  if (place.children.empty() && place.parent >= 0) {
    co_await Send(collective, place.parent, mine);
    co_await Flush(collective);
    co_return;
  }
  // The root's run is the whole result; an inner rank's is its subtree's, held here on its way.
  KeptMemory::Run own;
  std::byte* run = all;
  const int members = place.last - place.first + 1;
  const auto ranks = static_cast<std::uint64_t>(members);
  if (place.parent >= 0) {
    own = collective.portal().take_memory(ranks * block_bytes);
    run = own.get();
  }
  const auto at = [&](int rank) { return run + static_cast<std::uint64_t>(rank - place.first) * block_bytes; };
  std::deque<Receive> awaited;
  for (const TreePlace::Child& child : place.children) {
    const auto bytes = static_cast<std::uint64_t>(child.last - child.first + 1) * block_bytes;
    awaited.emplace_back(collective, child.rank, portals::Region(at(child.first), bytes));
  }
  const portals::Region slot(at(collective.rank()), block_bytes);
  if (mine.bytes() != block_bytes) {
    collective.named_other_bytes();
  } else if (!mine.contiguous() || mine.single().base != slot.single().base) {
    portals::copy(slot, mine);
  }
  for (Receive& part : awaited) co_await part;
  if (place.parent >= 0) {
    co_await Send(collective, place.parent, portals::Region(run, ranks * block_bytes));
    co_await Flush(collective);
  }
}

extern constinit const Row<GatherCall> gather_by_tree{
    {Algorithm::tree, always, [](const Ask& ask) { return tree_gather(ask.facts, ask.n()); }},
    [](Collective& collective, const Means& /*means*/, const GatherCall& call) {
      return gather_tree(collective, call.root, call.mine, call.block_bytes, call.all);
    }};

}  // namespace margay::collectives
