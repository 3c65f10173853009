// Direct exchange: every message goes straight from its sender to its receiver. Cost, with k messages out and m in:
// max(k, m) α + n β, where n is the number of bytes of the busier side. It is used for blocks of different lengths,
// because no rank has all the lengths; for long blocks, because each is moved only once; and for neighbours.
//
// Messages go in turns. A turn posts its receives, then sends its messages, each as soon as its receiver is ready, then
// awaits the receives. So a rank among thousands has only the blocks of one turn in its match list.
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

// The messages of the turn that begins at `from`; one side may have fewer turns than the other.
std::span<const PeerMessage> turn(std::span<const PeerMessage> all, std::size_t from, std::size_t at_once) {
  return from < all.size() ? all.subspan(from, std::min(at_once, all.size() - from)) : std::span<const PeerMessage>();
}

}  // namespace

Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in,
                        std::size_t at_once) {
  const std::size_t all = std::max(out.size(), in.size());
  for (std::size_t from = 0; from < all; from += std::min(at_once, all)) {
    const std::span<const PeerMessage> expected = turn(in, from, at_once);
    // Optional, because a message without data is neither sent nor received.
    std::vector<std::optional<Receive>> awaited(expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (expected[at].moves()) awaited[at].emplace(collective, expected[at].peer, expected[at].data);
    }
    // A deque, because sends cannot be moved.
    std::deque<Send> waiting;
    for (const PeerMessage& message : turn(out, from, at_once)) {
      if (!message.moves()) continue;
      // Long messages wait for their receivers together, so none delays another.
      if (collective.asks(message.data.bytes())) {
        waiting.emplace_back(collective, message.peer, message.data);
      } else {
        co_await Send(collective, message.peer, message.data);
      }
    }
    co_await SendEach(collective, waiting);
    for (std::optional<Receive>& receive : awaited) {
      if (!receive) continue;
      Receive& message = *receive;
      co_await message;
    }
  }
  co_await Flush(collective);
}

Steps gather_blocks(Collective& collective, Team* team, GatherCall call) {
  std::vector<PeerMessage> out, in;
  const portals::Region all(call.all, call.block_bytes * static_cast<std::uint64_t>(collective.size()));
  const auto block = [&](int rank) {
    return all.slice(static_cast<std::uint64_t>(rank) * call.block_bytes, call.block_bytes);
  };
  if (collective.rank() == call.root) {
    put_own_block(collective, block(call.root), call.mine);
    for (int rank = 0; rank < collective.size(); ++rank) {
      if (rank != call.root) in.push_back({rank, block(rank)});
    }
  } else {
    out.push_back({call.root, call.mine});
  }
  co_await exchange(collective, team, out, in);
}

// In step n the root sends to the n-th rank behind it.
Steps scatter_blocks(Collective& collective, Team* team, ScatterCall call) {
  std::vector<PeerMessage> out, in;
  if (collective.rank() == call.root) {
    const auto block = [&](int rank) {
      return call.all.slice(static_cast<std::uint64_t>(rank) * call.block_bytes, call.block_bytes);
    };
    put_own_block(collective, call.mine, block(call.root));
    for (int step = 1; step < collective.size(); ++step) {
      const int rank = (call.root + step) % collective.size();
      out.push_back({rank, block(rank)});
    }
  } else {
    in.push_back({call.root, call.mine});
  }
  co_await exchange(collective, team, out, in);
}

namespace {

Steps allgather_blocks(Collective& collective, AllgatherCall call) {
  static_cast<void>(place_own_block(collective, call));
  const std::vector<Slice> blocks = slices_of(call, collective.size());
  const portals::Region all(call.all, blocks.size() * call.block_bytes);
  co_await collect_among(collective, all_members(collective), {all, blocks}, kNoMember);
}

}  // namespace

extern constinit const Row<AllgatherCall> allgather_directly{
    {Algorithm::direct, has_bytes,
     [](const CallFacts& call) { return all_to_all_in_groups(all_of(call.facts), call.n(), false); }},
    [](Collective& collective, const Means& /*means*/, const AllgatherCall& call) {
      return allgather_blocks(collective, call);
    }};
extern constinit const Row<GatherCall> gather_directly{
    {Algorithm::direct, always, [](const CallFacts& call) { return deal(call.facts, call.n(), Dealing::if_long); }},
    [](Collective& collective, const Means& /*means*/, const GatherCall& call) {
      return gather_blocks(collective, nullptr, call);
    }};
extern constinit const Row<ScatterCall> scatter_directly{
    {Algorithm::direct, has_bytes, [](const CallFacts& call) { return deal(call.facts, call.n(), Dealing::if_long); }},
    [](Collective& collective, const Means& /*means*/, const ScatterCall& call) {
      return scatter_blocks(collective, nullptr, call);
    }};
extern constinit const Row<AlltoallCall> alltoall_directly{
    {Algorithm::direct, always,
     [](const CallFacts& call) { return all_to_all_in_groups(all_of(call.facts), call.n(), false); }},
    [](Collective& collective, const Means& /*means*/, const AlltoallCall& call) {
      return exchange_directly(collective, call.out, call.in);
    }};

}  // namespace margay::collectives
