// Reductions of long rows, each rank its slice: every rank sends every other one the other's slice, and combines what
// comes for its own. Then slices go where they are wanted: to all, or to the root. Cost, p ranks: (p - 1) α +
// (p - 1)/p n (β + γ); of an allreduce or a reduction another (p - 1) α + (p - 1)/p n β. Each byte is moved once in
// each half and combined once, by p ranks at a time, and nobody waits for one that waits for another one: a rank is
// scheduled once or twice, however many there are. Memory: (p - 1)/p n.
//
// Slices are combined in the order of ranks, so the operation need not be commutative; the bracketing is that order.
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

std::vector<Slice> even_slices(std::size_t count, int ranks) {
  std::vector<Slice> slices;
  const auto all = static_cast<std::size_t>(ranks);
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < all; ++rank) {
    const std::size_t length = count / all + (rank < count % all ? 1 : 0);
    slices.push_back({first, length});
    first += length;
  }
  return slices;
}

namespace {

// A row of elements in which each rank has its slice.
class SlicedRow {
 public:
  SlicedRow(std::byte* base, std::size_t element_bytes, std::span<const Slice> slices)
      : base_(base), element_bytes_(element_bytes), slices_(slices) {}
  [[nodiscard]] portals::Region of(std::size_t member) const {
    const Slice& slice = slices_[member];
    return portals::Region(base_ + slice.first * element_bytes_, slice.count * element_bytes_);
  }

 private:
  std::byte* base_;
  std::size_t element_bytes_;
  std::span<const Slice> slices_;
};

// In step n every member sends to the n-th one behind it: nobody is the target of all at once. visit(to, from), numbers
// of members.
template <typename Visit>
void for_each_step(const Members& members, Visit visit) {
  const std::size_t size = members.ranks.size();
  for (std::size_t step = 1; step < size; ++step) {
    visit((members.me + step) % size, (members.me + size - step) % size);
  }
}

// `rows`: the slices of all members but this one, whose is in `own`; where it ends up.
void combine_in_order(std::size_t me, std::byte* own, const std::vector<std::byte*>& rows, std::size_t count,
                      std::uint64_t bytes, const Reducer& combine) {
  const auto row = [&](std::size_t member) { return member == me ? own : rows[member]; };
  std::byte* const result = row(rows.size() - 1);
  for (std::size_t member = rows.size() - 1; member-- > 0;) combine(row(member), result, count);
  if (result != own) std::memcpy(own, result, bytes);
}

std::vector<int> all_ranks(const Collective& collective) {
  std::vector<int> ranks(static_cast<std::size_t>(collective.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

Steps reduce_scatter_among(Collective& collective, Members members, std::byte* partial, std::span<const Slice> slices,
                           std::size_t element_bytes, Reducer combine) {
  collective.ask_always();
  const SlicedRow row(partial, element_bytes, slices);
  const portals::Region mine = row.of(members.me);
  const std::uint64_t bytes = mine.bytes();
  const KeptMemory::Run theirs = collective.portal().take_memory(bytes * (members.ranks.size() - 1));
  std::vector<std::byte*> rows(members.ranks.size());
  std::vector<PeerMessage> out, in;
  for_each_step(members, [&](std::size_t to, std::size_t from) {
    rows[from] = theirs.get() + bytes * in.size();
    out.push_back({members.ranks[to], row.of(to)});
    in.push_back({members.ranks[from], portals::Region(rows[from], bytes)});
  });
  co_await exchange_directly(collective, out, in);
  if (bytes == 0 || collective.error_class() != MPI_SUCCESS) co_return;
  const std::size_t count = slices[members.me].count;
  std::byte* const own = mine.single().base;
  if (!combine.commutative()) {
    combine_in_order(members.me, own, rows, count, bytes, combine);
    co_return;
  }
  for (std::byte* const other : rows) {
    if (other != nullptr) combine(other, own, count);
  }
}

Steps allgather_among(Collective& collective, Members members, std::byte* all, std::span<const Slice> slices,
                      std::size_t element_bytes) {
  const SlicedRow row(all, element_bytes, slices);
  std::vector<PeerMessage> out, in;
  for_each_step(members, [&](std::size_t to, std::size_t from) {
    out.push_back({members.ranks[to], row.of(members.me)});
    in.push_back({members.ranks[from], row.of(from)});
  });
  co_await exchange_directly(collective, out, in);
}

Steps reduce_scatter_direct(Collective& collective, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine) {
  const std::vector<int> ranks = all_ranks(collective);
  const Members all{ranks, static_cast<std::size_t>(collective.rank())};
  co_await reduce_scatter_among(collective, all, partial, slices, element_bytes, combine);
}

Steps allgather_slices(Collective& collective, std::byte* all, std::span<const Slice> slices,
                       std::size_t element_bytes) {
  const std::vector<int> ranks = all_ranks(collective);
  const Members everybody{ranks, static_cast<std::size_t>(collective.rank())};
  co_await allgather_among(collective, everybody, all, slices, element_bytes);
}

Steps allreduce_direct(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                       Reducer combine) {
  const std::vector<Slice> slices = even_slices(count, collective.size());
  co_await reduce_scatter_direct(collective, partial, slices, element_bytes, combine);
  collective.next_phase();
  co_await allgather_slices(collective, partial, slices, element_bytes);
}

Steps reduce_direct(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                    Reducer combine) {
  const std::vector<Slice> slices = even_slices(count, collective.size());
  co_await reduce_scatter_direct(collective, partial, slices, element_bytes, combine);
  collective.next_phase();
  const SlicedRow row(partial, element_bytes, slices);
  std::vector<PeerMessage> out, in;
  if (collective.rank() != root) {
    out.push_back({root, row.of(static_cast<std::size_t>(collective.rank()))});
  } else {
    for (int from = 0; from < collective.size(); ++from) {
      if (from != root) in.push_back({from, row.of(static_cast<std::size_t>(from))});
    }
  }
  co_await exchange_directly(collective, out, in);
}

}  // namespace margay::collectives
