// Reductions of long vectors by slices: every rank sends each other rank the slice that belongs to that rank, and
// combines the parts of its own slice. Then slices go to all ranks, or to the root. Cost, p ranks: (p - 1) α + (p -
// 1)/p n (β + γ); of an allreduce or a reduction another (p - 1) α + (p - 1)/p n β. In each half each byte is moved
// once; in the first half it is also combined once, by p ranks at the same time. No rank waits for a rank that is
// itself waiting, so each is scheduled once or twice, however many ranks there are. Memory: (p - 1)/p n.
//
// If the operation does not commute, each rank combines the parts of its slice in the order of ranks, from the last one
// on, a0 (a1 (a2 a3)). Otherwise it adds the others' parts to its own in place.
#include <vector>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

// Combines the slices of all members in their order. `vectors`: those of the others; `own`: this member's, where the
// result ends up.
void combine_in_order(std::size_t me, const portals::Region& own, const std::vector<std::byte*>& vectors,
                      std::size_t element_bytes, const Reducer& combine) {
  const auto vector = [&](std::size_t member) {
    return member == me ? own : portals::Region(vectors[member], own.bytes());
  };
  const std::size_t last = vectors.size() - 1;
  const portals::Region result = vector(last);
  for (std::size_t member = last; member-- > 0;) combine_vectors(combine, vector(member), result, element_bytes);
  if (last != me) portals::copy(own, result);
}

}  // namespace

Steps reduce_scatter_among(Collective& collective, Members members, SlicedVector vector, Reducer combine) {
  collective.ask_always();
  const portals::Region mine = vector.of(members.me());
  const std::uint64_t bytes = mine.bytes();
  const KeptMemory::Run theirs = collective.portal().take_memory(bytes * (members.size() - 1));
  std::vector<std::byte*> vectors(members.size());
  std::vector<PeerMessage> out, in;
  for_each_step(members, [&](std::size_t to, std::size_t from) {
    vectors[from] = theirs.get() + bytes * in.size();
    out.push_back({members.rank_of(to), vector.of(to)});
    in.push_back({members.rank_of(from), portals::Region(vectors[from], bytes)});
  });
  co_await exchange_directly(collective, out, in);
  if (bytes == 0 || collective.error_class() != MPI_SUCCESS) co_return;
  if (!combine.commutative()) {
    combine_in_order(members.me(), mine, vectors, vector.element_bytes, combine);
    co_return;
  }
  for (std::byte* const other : vectors) {
    // This member's own vector is null.
    if (other != nullptr) combine_vectors(combine, portals::Region(other, bytes), mine, vector.element_bytes);
  }
}

Steps collect_among(Collective& collective, Members members, SlicedVector vector, int has_all) {
  const auto is_full = [&](std::size_t member) { return static_cast<int>(member) == has_all; };
  std::vector<PeerMessage> out, in;
  for_each_step(members, [&](std::size_t to, std::size_t from) {
    out.push_back({is_full(to) ? -1 : members.rank_of(to), vector.of(members.me())});
    in.push_back({is_full(members.me()) ? -1 : members.rank_of(from), vector.of(from)});
  });
  co_await exchange_directly(collective, out, in);
}

Steps gather_among(Collective& collective, Members members, std::size_t root, SlicedVector vector) {
  std::vector<PeerMessage> out, in;
  if (members.me() != root) {
    out.push_back({members.rank_of(root), vector.of(members.me())});
  } else {
    for (std::size_t from = 0; from < members.size(); ++from) {
      if (from != root) in.push_back({members.rank_of(from), vector.of(from)});
    }
  }
  co_await exchange_directly(collective, out, in);
}

Steps scatter_among(Collective& collective, Members members, std::size_t root, SlicedVector vector) {
  std::vector<PeerMessage> out, in;
  if (members.me() != root) {
    in.push_back({members.rank_of(root), vector.of(members.me())});
  } else {
    for (std::size_t to = 0; to < members.size(); ++to) {
      if (to != root) out.push_back({members.rank_of(to), vector.of(to)});
    }
  }
  co_await exchange_directly(collective, out, in);
}

Steps reduce_scatter_direct(Collective& collective, Reduction is, std::span<const Slice> slices) {
  return reduce_scatter_among(collective, all_members(collective), {is.region(), slices, is.element_bytes}, is.combine);
}

Steps allreduce_direct(Collective& collective, Reduction is) {
  const std::vector<Slice> slices = even_slices(is.count, collective.size());
  co_await reduce_scatter_direct(collective, is, slices);
  collective.next_phase();
  co_await collect_among(collective, all_members(collective), {is.region(), slices, is.element_bytes}, kNoMember);
}

Steps reduce_direct(Collective& collective, int root, Reduction is) {
  const std::vector<Slice> slices = even_slices(is.count, collective.size());
  co_await reduce_scatter_direct(collective, is, slices);
  collective.next_phase();
  co_await gather_among(collective, all_members(collective), static_cast<std::size_t>(root),
                        {is.region(), slices, is.element_bytes});
}

namespace {

Steps cut_and_combine(Collective& collective, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  co_await reduce_scatter_direct(collective, call.reduction, slices);
}

}  // namespace

extern constinit const Row<ReduceCall> reduce_by_slices{
    {Algorithm::direct, has_bytes,
     [](const CallFacts& call) {
       const double slice = call.n() / call.ranks();
       return combine_slices(all_of(call.facts), slice) + deal(call.facts, slice, Dealing::asks_always);
     }},
    [](Collective& collective, const Means& /*means*/, const ReduceCall& call) {
      return reduce_direct(collective, call.root, call.reduction);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_slices{
    {Algorithm::direct, has_bytes,
     [](const CallFacts& call) { return combine_slices(all_of(call.facts), call.n() / call.ranks()); }},
    [](Collective& collective, const Means& /*means*/, const ReduceScatterCall& call) {
      return cut_and_combine(collective, call);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_slices{
    {Algorithm::direct, has_bytes,
     [](const CallFacts& call) {
       const Group all = all_of(call.facts);
       const double slice = call.n() / call.ranks();
       return combine_slices(all, slice) + all_to_all_in_groups(all, slice, true);
     }},
    [](Collective& collective, const Means& /*means*/, const AllreduceCall& call) {
      return allreduce_direct(collective, call.reduction);
    }};

}  // namespace margay::collectives
