// Operations on groups (MPI 4.0, 7.3). Pure. Each costs at most n log n in the number of members. The bindings have
// checked the arguments.
#pragma once

#include <span>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/object/group.hpp"

namespace margay::mpi_adi {

// An index of a group's members by world rank. Construction takes n log n, and a look-up log n. If each rank equals its
// world rank, construction is linear and a look-up takes constant time. Requires: the group outlives the index.
class GroupIndex {
 public:
  explicit GroupIndex(const Group& group);
  // The rank of a process in the group; MPI_UNDEFINED: not a member.
  [[nodiscard]] int rank_of(std::uint32_t world_rank) const;

 private:
  const Group& group_;
  bool identity_ = true;  // rank i is world rank i
  // Ranks of the group, sorted by world rank; empty with identity_.
  std::vector<int> by_world_rank_;
};

// Makes a group of these processes. `me`: this process's world rank. The functions below derive groups from one group
// or from two. A derived group belongs to the session of the first of them.
[[nodiscard]] GroupPtr make_group(std::vector<std::uint32_t>&& world_ranks, std::uint32_t me,
                                  std::uint32_t session = 0);

// Whether numbers that another process sent are valid members of a group: each is below `processes`, the size of the
// job, and occurs at most once.
[[nodiscard]] bool can_be_members(std::span<const std::uint64_t> numbers, std::uint32_t processes);

// Compares two groups: MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
[[nodiscard]] int compare(const Group& one, const Group& other);
// All members of `one`, then the members of `other` that are not in `one`.
[[nodiscard]] GroupPtr unite(const Group& one, const Group& other, std::uint32_t me);
// The members of `one` that are in `other` (intersect) or are not (subtract), in the order of `one`.
[[nodiscard]] GroupPtr intersect(const Group& one, const Group& other, std::uint32_t me);
[[nodiscard]] GroupPtr subtract(const Group& one, const Group& other, std::uint32_t me);
// include(): the members with these ranks, in the order of `ranks`. exclude(): all other members, in the group's order.
[[nodiscard]] GroupPtr include(const Group& group, std::span<const int> ranks, std::uint32_t me);
[[nodiscard]] GroupPtr exclude(const Group& group, std::span<const int> ranks, std::uint32_t me);
// Whether each member of `part` is a member of `whole`.
[[nodiscard]] bool is_subset(const Group& part, const Group& whole);

// Translates `ranks` of `from` to the ranks that the same processes have in `to`; MPI_UNDEFINED: not in `to`.
// MPI_PROC_NULL is unchanged. `result` has one element for each rank.
void translate(const Group& from, std::span<const int> ranks, const Group& to, int* result);

// An error in a list of ranks: its kind and its position.
struct RankFault {
  enum class What : std::uint8_t { none, outside, twice, zero_stride, wrong_way } what = What::none;
  int at = 0;    // index of the entry
  int rank = 0;  // the invalid rank
};
// Checks ranks of a group with `size` members.
[[nodiscard]] RankFault check_ranks(int size, std::span<const int> ranks);
// Checks triplets of first, last and stride, and appends the ranks that they stand for to `ranks`.
// A range may run downwards; none of its ranks may be outside or named twice (MPI 4.0, 7.3.2).
[[nodiscard]] RankFault expand_ranges(int size, std::span<const int[3]> ranges, std::vector<int>& ranks);

}  // namespace margay::mpi_adi
