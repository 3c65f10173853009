#include "mpi_adi/object/group_ops.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace margay::mpi_adi {

namespace {

std::uint32_t world_rank_of(const Group& group, int rank) {
  return group.world_ranks[static_cast<std::size_t>(rank)];
}

// The members of `one` for which membership in `other` is `wanted`.
GroupPtr filter(const Group& one, const Group& other, bool wanted, std::uint32_t me) {
  const GroupIndex index(other);
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t rank : one.world_ranks) {
    if ((index.rank_of(rank) != MPI_UNDEFINED) == wanted) kept.push_back(rank);
  }
  return make_group(std::move(kept), me, one.session);
}

// Marks the rank in `seen`, if it is inside and was not seen before.
RankFault::What mark(std::vector<bool>& seen, std::int64_t rank) {
  if (rank < 0 || rank >= static_cast<std::int64_t>(seen.size())) return RankFault::What::outside;
  const auto at = static_cast<std::size_t>(rank);
  if (seen[at]) return RankFault::What::twice;
  seen[at] = true;
  return RankFault::What::none;
}

// Checks the range's ends. If both are inside of the group, all ranks between them are, too, and no range is longer
// than the group.
RankFault check_range(int size, const int (&range)[3], int at) {
  const auto [first, last, stride] = range;
  if (stride == 0) return {RankFault::What::zero_stride, at, first};
  if (first < 0 || first >= size) return {RankFault::What::outside, at, first};
  if ((stride > 0 && first > last) || (stride < 0 && first < last)) return {RankFault::What::wrong_way, at, last};
  const std::int64_t span = std::int64_t{last} - first;
  // The last rank that the stride reaches, which may be before `last`.
  const std::int64_t reached = first + span / stride * stride;
  if (reached < 0 || reached >= size) return {RankFault::What::outside, at, last};
  return {};
}

}  // namespace

GroupIndex::GroupIndex(const Group& group) : group_(group) {
  const auto& ranks = group.world_ranks;
  // The world and groups made of its first members need no index.
  for (std::size_t i = 0; i < ranks.size() && identity_; ++i) identity_ = ranks[i] == i;
  if (identity_) return;
  by_world_rank_.resize(ranks.size());
  std::iota(by_world_rank_.begin(), by_world_rank_.end(), 0);
  std::sort(by_world_rank_.begin(), by_world_rank_.end(),
            [&group](int a, int b) { return world_rank_of(group, a) < world_rank_of(group, b); });
}

int GroupIndex::rank_of(std::uint32_t world_rank) const {
  if (identity_) return world_rank < group_.world_ranks.size() ? static_cast<int>(world_rank) : MPI_UNDEFINED;
  const auto found = std::lower_bound(by_world_rank_.begin(), by_world_rank_.end(), world_rank,
                                      [this](int a, std::uint32_t b) { return world_rank_of(group_, a) < b; });
  if (found == by_world_rank_.end() || world_rank_of(group_, *found) != world_rank) return MPI_UNDEFINED;
  return *found;
}

GroupPtr make_group(std::vector<std::uint32_t>&& world_ranks, std::uint32_t me, std::uint32_t session) {
  auto group = std::make_shared<Group>();
  // One pass over the members, at the making of the group only.
  const auto mine = std::find(world_ranks.begin(), world_ranks.end(), me);
  group->my_rank = mine == world_ranks.end() ? -1 : static_cast<int>(mine - world_ranks.begin());
  group->world_ranks = std::move(world_ranks);
  group->session = session;
  return group;
}

bool can_be_members(std::span<const std::uint64_t> numbers, std::uint32_t processes) {
  // The bound is tested first, because the numbers came from another process and determine the work below.
  if (numbers.size() > processes) return false;
  std::vector<bool> seen(processes, false);
  for (const std::uint64_t number : numbers) {
    if (number >= processes || seen[number]) return false;
    seen[number] = true;
  }
  return true;
}

int compare(const Group& one, const Group& other) {
  // Equal lists are the usual case, and need no index.
  if (&one == &other || one.world_ranks == other.world_ranks) return MPI_IDENT;
  if (one.size() != other.size()) return MPI_UNEQUAL;
  return is_subset(one, other) ? MPI_SIMILAR : MPI_UNEQUAL;
}

GroupPtr unite(const Group& one, const Group& other, std::uint32_t me) {
  const GroupIndex index(one);
  std::vector<std::uint32_t> all = one.world_ranks.numbers();
  for (const std::uint32_t rank : other.world_ranks) {
    if (index.rank_of(rank) == MPI_UNDEFINED) all.push_back(rank);
  }
  return make_group(std::move(all), me, one.session);
}

GroupPtr intersect(const Group& one, const Group& other, std::uint32_t me) {
  return filter(one, other, true, me);
}

GroupPtr subtract(const Group& one, const Group& other, std::uint32_t me) {
  return filter(one, other, false, me);
}

GroupPtr include(const Group& group, std::span<const int> ranks, std::uint32_t me) {
  std::vector<std::uint32_t> kept;
  kept.reserve(ranks.size());
  for (const int rank : ranks) kept.push_back(world_rank_of(group, rank));
  return make_group(std::move(kept), me, group.session);
}

GroupPtr exclude(const Group& group, std::span<const int> ranks, std::uint32_t me) {
  std::vector<bool> out(group.world_ranks.size(), false);
  for (const int rank : ranks) out[static_cast<std::size_t>(rank)] = true;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) kept.push_back(group.world_ranks[i]);
  }
  return make_group(std::move(kept), me, group.session);
}

bool is_subset(const Group& part, const Group& whole) {
  const GroupIndex index(whole);
  return std::all_of(part.world_ranks.begin(), part.world_ranks.end(),
                     [&index](std::uint32_t rank) { return index.rank_of(rank) != MPI_UNDEFINED; });
}

void translate(const Group& from, std::span<const int> ranks, const Group& to, int* result) {
  // For up to kFew ranks, linear searches are cheaper than an index.
  constexpr std::size_t kFew = 8;
  std::optional<GroupIndex> index;
  if (ranks.size() > kFew && &from != &to) index.emplace(to);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if (rank == MPI_PROC_NULL || &from == &to) {
      result[i] = rank;
    } else if (index) {
      result[i] = index->rank_of(world_rank_of(from, rank));
    } else {
      const auto found = std::find(to.world_ranks.begin(), to.world_ranks.end(), world_rank_of(from, rank));
      result[i] = found == to.world_ranks.end() ? MPI_UNDEFINED : static_cast<int>(found - to.world_ranks.begin());
    }
  }
}

RankFault check_ranks(int size, std::span<const int> ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(size), false);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankFault::What what = mark(seen, ranks[i]);
    if (what != RankFault::What::none) return {what, static_cast<int>(i), ranks[i]};
  }
  return {};
}

RankFault expand_ranges(int size, std::span<const int[3]> ranges, std::vector<int>& ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(size), false);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& range = ranges[i];
    const int at = static_cast<int>(i);
    if (const RankFault fault = check_range(size, range, at); fault.what != RankFault::What::none) return fault;
    // At least one rank, because check_range() rejects ranges of the wrong direction.
    const std::int64_t steps = (std::int64_t{range[1]} - range[0]) / range[2];
    for (std::int64_t step = 0; step <= steps; ++step) {
      const auto rank = static_cast<int>(range[0] + step * range[2]);
      if (mark(seen, rank) == RankFault::What::twice) return {RankFault::What::twice, at, rank};
      ranks.push_back(rank);
    }
  }
  return {};
}

}  // namespace margay::mpi_adi
