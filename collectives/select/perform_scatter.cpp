// Scatters as whole operations (perform.hpp).
#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/select/perform.hpp"

namespace margay::collectives {

namespace {

// The tree takes all blocks as one run.
Steps scatter_run(Collective& collective, ScatterCall what) {
  KeptMemory::Run own;
  std::byte* run = what.all.single().base;
  if (!what.all.contiguous()) {
    own = collective.portal().take_memory(what.all.bytes());
    run = own.get();
    portals::copy(portals::Region(run, what.all.bytes()), what.all);
  }
  co_await scatter_tree(collective, what.root, run, what.block_bytes, what.mine);
}

// Each block goes from the root by itself. In step n the root sends to the n-th rank behind it.
Steps scatter_blocks(Collective& collective, Team* team, ScatterCall what) {
  std::vector<PeerMessage> out, in;
  if (collective.rank() == what.root) {
    const auto block = [&](int rank) {
      return what.all.slice(static_cast<std::uint64_t>(rank) * what.block_bytes, what.block_bytes);
    };
    put_own_block(collective, what.mine, block(what.root));
    for (int step = 1; step < collective.size(); ++step) {
      const int rank = (what.root + step) % collective.size();
      out.push_back({rank, block(rank)});
    }
  } else {
    in.push_back({what.root, what.mine});
  }
  co_await exchange(collective, team, out, in);
}

}  // namespace

Plan ScatterCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::scatter, block_bytes);
  return {algorithm, shape_of(Operation::scatter, algorithm, root, block_bytes)};
}

Steps ScatterCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::shared) {
    const bool posted = block_bytes * static_cast<std::uint64_t>(standing.facts.ranks) <= kPostedBytes;
    return posted ? scatter_posted(collective, *standing.team, root, all, block_bytes, mine)
                  : scatter_blocks(collective, standing.team, *this);
  }
  if (algorithm == Algorithm::direct) return scatter_blocks(collective, nullptr, *this);
  return scatter_run(collective, *this);
}

}  // namespace margay::collectives
