// The chain of ranks, each of which sends to the next one; long data in pieces of m bytes.
//
// Broadcast, from the root on. Cost: (p - 1) α + (n + (p - 2) m) β. A chain moves each byte once, a bucket twice; but
// in a chain a late rank delays all ranks behind it.
//
// Scan and exclusive scan: each rank receives the combination of the ranks before it, adds its own part, and sends that
// on. Each piece of a long vector is added and sent on while the next one arrives. Cost: (p - 1)(α + n β + n γ); in
// pieces (p - 1) α + (n + (p - 2) m)(β + γ), because all ranks work at the same time. With short vectors a rank waits
// only for the one before it, and may run ahead of the ranks behind it. So where ranks outnumber processors, a rank
// that is scheduled does its part of many consecutive calls (Cost::one_way). Of all methods for scans this one moves
// and combines the fewest bytes.
//
// Parts are combined in the order of ranks, from the first one on, ((a0 a1) a2) a3, so the operation need not be
// commutative.
#include <algorithm>
#include <cstring>
#include <optional>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/stream.hpp"

namespace margay::collectives {

Steps scan_chain(Collective& collective, ScanCall call) {
  const Reduction& is = call.reduction;
  const std::uint64_t bytes = is.bytes();
  const bool first = collective.rank() == 0;
  const int next = collective.rank() + 1;
  const bool last = next == collective.size();
  // In an exclusive scan the last rank's own part is in no result.
  const bool adds = !first && !(last && call.kind == ScanKind::exclusive);
  Scratch scratch(collective, adds ? bytes : 0);
  std::byte* const before = adds ? scratch.base() : is.partial;  // the combination of the ranks before this one
  if (bytes <= kHandshakeBytes) {
    if (!first) co_await Receive(collective, next - 2, portals::Region(before, bytes));
    if (adds && bytes != 0 && collective.error_class() == MPI_SUCCESS) is.combine(before, is.partial, is.count);
    if (!last) co_await Send(collective, next, is.region());
  } else {
    // A piece may be as short as a short message. If the members' calls have vectors of different lengths, a member
    // with a short vector could accept such a piece as its whole message. So each sender first waits for its receiver's
    // notice, which carries the receiver's length.
    collective.ask_always();
    std::optional<StreamReceive> in;
    std::optional<StreamSend> out;
    if (!first) in.emplace(collective, next - 2, portals::Region(before, bytes), bytes);
    if (!last) {
      out.emplace(collective, next);
      co_await out->opened();
    }
    const std::size_t piece = std::max<std::size_t>(kStreamPieceBytes / is.element_bytes, 1);
    for (std::size_t at = 0; at < is.count; at += piece) {
      const std::size_t elements = std::min(piece, is.count - at);
      const std::uint64_t offset = at * is.element_bytes;
      if (in) co_await in->until(offset + elements * is.element_bytes);
      if (adds && collective.error_class() == MPI_SUCCESS) is.combine(before + offset, is.partial + offset, elements);
      if (out) out->send(is.region().slice(offset, elements * is.element_bytes), offset);
    }
  }
  co_await Flush(collective);
  if (call.kind == ScanKind::exclusive && adds && bytes != 0) std::memcpy(is.partial, before, bytes);
}

namespace {

// A broadcast round the ring of ranks, from the root on. Each piece is sent on while the next one arrives.
Steps bcast_chain(Collective& collective, int root, portals::Region data) {
  collective.ask_always();
  const int size = collective.size();
  const int before = (collective.rank() + size - 1) % size;
  const int next = (collective.rank() + 1) % size;
  std::optional<StreamReceive> in;
  std::optional<StreamSend> out;
  if (collective.rank() != root) in.emplace(collective, before, data, data.bytes());
  if (next != root) {
    out.emplace(collective, next);
    co_await out->opened();
  }
  for (std::uint64_t offset = 0; offset < data.bytes(); offset += kStreamPieceBytes) {
    const std::uint64_t bytes = std::min<std::uint64_t>(kStreamPieceBytes, data.bytes() - offset);
    if (in) co_await in->until(offset + bytes);
    if (out) out->send(data.slice(offset, bytes), offset);
  }
  co_await Flush(collective);
}

// The cost of a broadcast or a scan along the chain. Long vectors go in pieces, so all ranks work at once.
Cost chain_cost(const CallFacts& call, bool combines) {
  const Facts& facts = call.facts;
  const double n = call.n();
  Cost cost;
  // The path is that of the last rank: the first piece travels the whole chain, the remaining ones follow close behind
  // it.
  const double steps = facts.ranks - 1.0;
  if (steps == 0) return cost;
  const double chain = facts.crossings.chain;
  const bool streams = messages_of(n) > 1;
  const double pieces = streams ? pieces_of(n) : 1;
  // The ready notices of streams. All ranks send theirs at once, so only one is on the path.
  const double word = streams ? 1 : 0;
  const double first = streams ? std::min(n, static_cast<double>(kStreamPieceBytes)) : n;
  // 1 if some link lies between nodes: that link then determines the time of the notice and of the whole vector.
  const double far = chain > 0 ? 1 : 0;
  add_sent(cost, {steps * (pieces + word), chain * (pieces + word)}, {steps * n, chain * n});
  add_path(cost, {steps + word, chain + word * far},
           {n + (steps - 1) * first, std::min(far * n + (chain - far) * first, n + (steps - 1) * first)});
  if (combines) cost.path.combined_bytes = n + (steps - 1) * first;
  if (combines) cost.all.combined_bytes = steps * n;
  cost.one_way = !streams;
  return cost;
}

// Inside a node a rank between two others copies out of shared memory and into it at the same time.
Cost bcast_cost(const CallFacts& call) {
  Cost cost = chain_cost(call, false);
  if (call.facts.ranks > 2) cost.path.inside.bytes *= kBothWays;
  return cost;
}

}  // namespace

extern constinit const Row<BcastCall> bcast_by_chain{
    {Algorithm::chain, [](const CallFacts& call) { return !call.is_short(); }, bcast_cost},
    [](Collective& collective, const Means& /*means*/, const BcastCall& call) {
      return bcast_chain(collective, call.root, call.data);
    }};
extern constinit const Row<ScanCall> scan_by_chain{
    {Algorithm::chain, always, [](const CallFacts& call) { return chain_cost(call, true); }},
    [](Collective& collective, const Means& /*means*/, const ScanCall& call) { return scan_chain(collective, call); }};

}  // namespace margay::collectives
