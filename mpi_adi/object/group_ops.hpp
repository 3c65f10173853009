// Arithmetic on groups (MPI 4.0, 7.3). Pure; n log n in the members. Arguments were checked.
#pragma once

#include <span>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/object/group.hpp"

namespace margay::mpi_adi {

// Finds members by their world ranks: log n a look-up, after n log n at the start (n where each rank is its world
// rank). Requires: the group outlives it.
class GroupIndex {
 public:
  explicit GroupIndex(const Group& group);
  // The member's rank in the group; MPI_UNDEFINED: no member.
  [[nodiscard]] int rank_of(std::uint32_t world_rank) const;

 private:
  const Group& group_;
  bool identity_ = true;  // rank i is world rank i
  std::vector<int> by_world_rank_;
};

// A group of these processes. `me`: this process's world rank. What is made of a group below belongs to its session (of
// two groups, the first one's).
[[nodiscard]] GroupPtr make_group(std::vector<std::uint32_t>&& world_ranks, std::uint32_t me,
                                  std::uint32_t session = 0);

// Whether numbers that another process sent can be the members of a group: processes of a job of `processes`, none
// twice.
[[nodiscard]] bool can_be_members(std::span<const std::uint64_t> numbers, std::uint32_t processes);

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
[[nodiscard]] int compare(const Group& one, const Group& other);
// All of `one`, then the others of `other`.
[[nodiscard]] GroupPtr unite(const Group& one, const Group& other, std::uint32_t me);
// Those of `one` that are, or are not, in `other`; in the order of `one`.
[[nodiscard]] GroupPtr intersect(const Group& one, const Group& other, std::uint32_t me);
[[nodiscard]] GroupPtr subtract(const Group& one, const Group& other, std::uint32_t me);
// The members with these ranks, in this order; or those without, in the group's.
[[nodiscard]] GroupPtr include(const Group& group, std::span<const int> ranks, std::uint32_t me);
[[nodiscard]] GroupPtr exclude(const Group& group, std::span<const int> ranks, std::uint32_t me);
// Whether each member of `part` is one of `whole`.
[[nodiscard]] bool is_subset(const Group& part, const Group& whole);

// What the members of `from` with these ranks are in `to`: ranks, or MPI_UNDEFINED. MPI_PROC_NULL stays.
void translate(const Group& from, std::span<const int> ranks, const Group& to, int* result);

// What is wrong with ranks, if anything is.
struct RankFault {
  enum class What : std::uint8_t { none, outside, twice, zero_stride, wrong_way } what = What::none;
  int at = 0;    // the entry's place
  int rank = 0;  // the rank that is wrong
};
// Of ranks of a group with `size` members.
[[nodiscard]] RankFault check_ranks(int size, std::span<const int> ranks);
// Of triplets first, last, stride; `ranks` gets what they stand for.
[[nodiscard]] RankFault expand_ranges(int size, std::span<const int[3]> ranges, std::vector<int>& ranks);

}  // namespace margay::mpi_adi
