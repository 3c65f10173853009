// Operations on groups (MPI 4.0, 7.3). Pure; n log n in the number of members. The bindings have checked the arguments.
#pragma once

#include <span>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/object/group.hpp"

namespace margay::mpi_adi {

// An index of a group's members by world rank. A look-up takes log n after n log n at construction, or constant time if
// each rank is its world rank. Requires: the group outlives it.
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

// A group of these processes. `me`: this process's world rank. A group that the functions below make belongs to the
// session of its group, or of the first of two.
[[nodiscard]] GroupPtr make_group(std::vector<std::uint32_t>&& world_ranks, std::uint32_t me,
                                  std::uint32_t session = 0);

// Whether numbers from another process can be a group's members: processes of a job of `processes`, each once.
[[nodiscard]] bool can_be_members(std::span<const std::uint64_t> numbers, std::uint32_t processes);

// Compares two groups: MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
[[nodiscard]] int compare(const Group& one, const Group& other);
// All members of `one`, then the others of `other`.
[[nodiscard]] GroupPtr unite(const Group& one, const Group& other, std::uint32_t me);
// The members of `one` that are, or are not, in `other`, in the order of `one`.
[[nodiscard]] GroupPtr intersect(const Group& one, const Group& other, std::uint32_t me);
[[nodiscard]] GroupPtr subtract(const Group& one, const Group& other, std::uint32_t me);
// The members with these ranks, in this order, or all others, in the group's order.
[[nodiscard]] GroupPtr include(const Group& group, std::span<const int> ranks, std::uint32_t me);
[[nodiscard]] GroupPtr exclude(const Group& group, std::span<const int> ranks, std::uint32_t me);
// Whether each member of `part` is one of `whole`.
[[nodiscard]] bool is_subset(const Group& part, const Group& whole);

// The ranks in `to` of the members of `from` with these ranks, or MPI_UNDEFINED. MPI_PROC_NULL stays.
void translate(const Group& from, std::span<const int> ranks, const Group& to, int* result);

// An error in a list of ranks: its kind, and where it is.
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
