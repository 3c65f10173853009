// A hybrid (paper 001, section 3.2, and its references): an allreduce of a long row by two dimensions, the ranks of a
// node and the nodes. The m ranks of each node combine their rows by slices, one each; then the k ranks of all nodes
// that have the same slice do an allreduce of it by slices of slices, all m groups at once; then each node's ranks give
// each other what they have. Cost: 2 (m - 1) α + 2 (m - 1)/m n β inside, and between nodes 2 (k - 1) α + 2 (k - 1)/(k
// m) n β, with (m - 1)/m n γ + (k - 1)/(k m) n γ. Without dimensions (k - 1)/k of all n bytes go between nodes, from
// each rank: m times as many.
#include <vector>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine) {
  const auto index = static_cast<std::size_t>(groups.index());
  const Members inside{groups.mine(), index};
  const std::vector<int> column = groups.column();
  const Members between{column, static_cast<std::size_t>(groups.number())};
  const std::vector<Slice> slices = even_slices(count, static_cast<int>(inside.ranks.size()));
  std::vector<Slice> parts = even_slices(slices[index].count, groups.nodes());
  for (Slice& part : parts) part.first += slices[index].first;
  co_await reduce_scatter_among(collective, inside, partial, slices, element_bytes, combine);
  co_await reduce_scatter_among(collective, between, partial, parts, element_bytes, combine);
  collective.next_phase();
  co_await allgather_among(collective, between, partial, parts, element_bytes);
  co_await allgather_among(collective, inside, partial, slices, element_bytes);
}

}  // namespace margay::collectives
