// Scatter along the minimum spanning tree (paper 001, section 3.1): the root sends each child the blocks of its
// subtree, which are one contiguous run, and each child goes on. Cost: ceil(log2 p) α + (p - 1)/p n β, n all blocks; an
// inner rank's run is moved once more.
#include <memory>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

Steps scatter_tree(Collective& collective, int root, std::byte* all, std::uint64_t block_bytes, portals::Region mine) {
  const TreePlace place = spanning_tree(collective.size(), root, collective.rank());
  if (place.children.empty() && place.parent >= 0) {
    co_await Receive(collective, place.parent, mine);
    co_return;
  }
  KeptMemory::Run own;
  std::byte* run = all;
  if (place.parent >= 0) {
    const auto bytes = static_cast<std::uint64_t>(place.last - place.first + 1) * block_bytes;
    own = collective.portal().take_memory(bytes);
    run = own.get();
    co_await Receive(collective, place.parent, portals::Region(run, bytes));
  }
  const auto at = [&](int rank) { return run + static_cast<std::uint64_t>(rank - place.first) * block_bytes; };
  for (const TreePlace::Child& child : place.children) {
    const auto bytes = static_cast<std::uint64_t>(child.last - child.first + 1) * block_bytes;
    co_await Send(collective, child.rank, portals::Region(at(child.first), bytes));
  }
  const portals::Region block(at(collective.rank()), block_bytes);
  put_own_block(collective, mine, block);
  co_await Flush(collective);
}

namespace {

// The tree takes all blocks as one run.
Steps scatter_run(Collective& collective, ScatterCall call) {
  KeptMemory::Run own;
  std::byte* run = call.all.single().base;
  if (!call.all.contiguous()) {
    own = collective.portal().take_memory(call.all.bytes());
    run = own.get();
    portals::copy(portals::Region(run, call.all.bytes()), call.all);
  }
  co_await scatter_tree(collective, call.root, run, call.block_bytes, call.mine);
}

}  // namespace

extern constinit const Row<ScatterCall> scatter_by_tree{
    {Algorithm::tree, always, [](const Ask& ask) { return tree_scatter(ask.facts, ask.n()); }},
    [](Collective& collective, const Means& /*means*/, const ScatterCall& call) {
      return scatter_run(collective, call);
    }};

}  // namespace margay::collectives
