#include "mpi_adi/rma/conflicts.hpp"

#include <algorithm>
#include <vector>

namespace margay::mpi_adi {

namespace {

bool is_swap(const AnnouncedAccess& access) {
  return access.op == MPI_OP_NULL;
}

// "same_op_no_op" allows the same operation, or MPI_NO_OP (MPI 4.0, 12.2.1). The standard has no rule for
// compare-and-swap, so here it mixes with every operation.
bool operations_mix(const AnnouncedAccess& first, const AnnouncedAccess& second) {
  if (first.op == second.op || is_swap(first) || is_swap(second)) return true;
  const MixedOps allowed = std::max(first.mixed_ops, second.mixed_ops);
  return allowed == MixedOps::any || (allowed == MixedOps::no_op && (first.op == MPI_NO_OP || second.op == MPI_NO_OP));
}

// Whether two accesses may overlap in time. A read with a request may be complete long before its origin reports it, so
// it is not compared with accesses of other origins.
bool are_concurrent(const AnnouncedAccess& first, const AnnouncedAccess& second) {
  if (first.origin != second.origin && first.ends_alone) return false;
  const bool fence = first.epoch == EpochKind::fence || second.epoch == EpochKind::fence;
  return !fence || first.fences == second.fences;
}

// Whether keeping the second access beside the first would find no further conflicts.
bool is_again(const AnnouncedAccess& first, const AnnouncedAccess& second) {
  return first.origin == second.origin && first.op == second.op && first.type == second.type &&
         first.fences == second.fences && first.kind == second.kind && first.epoch == second.epoch &&
         first.ends_alone == second.ends_alone && first.mixed_ops == second.mixed_ops;
}

}  // namespace

Clash clash_of(const AnnouncedAccess& first, const AnnouncedAccess& second) {
  if (first.reads() && second.reads()) return Clash::none;
  if (first.kind != AccessKind::accumulate || second.kind != AccessKind::accumulate) return Clash::memory;
  if (first.type != second.type) return Clash::types;
  // Ordered accumulates of one origin are performed in their order (12.7.2).
  if (first.origin == second.origin && first.ordered && second.ordered) return Clash::none;
  return operations_mix(first, second) ? Clash::none : Clash::operations;
}

std::optional<Conflict> ConflictTable::add(const AnnouncedAccess& access, std::span<const ByteRange> ranges) {
  // The table is empty, so no range before this call limits the search distance.
  if (kept_.empty()) longest_ = 0;
  std::vector<bool> again(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange& range = ranges[i];
    // A range that overlaps this one begins at most `longest_` bytes before it, because no kept range is longer.
    const std::uint64_t from = range.begin > longest_ ? range.begin - longest_ : 0;
    for (auto it = kept_.lower_bound(from); it != kept_.end() && it->first < range.end; ++it) {
      const AnnouncedAccess& first = it->second.access;
      const bool same = first.origin == access.origin && first.number == access.number;
      if (it->second.end <= range.begin || same || !are_concurrent(first, access)) continue;
      const Clash clash = clash_of(first, access);
      if (clash != Clash::none) return Conflict{first, {it->first, it->second.end}, range, clash};
      // An access that repeats another is not kept: a counter that is added to a million times needs one entry.
      if (it->first == range.begin && it->second.end == range.end && is_again(first, access)) again[i] = true;
    }
  }
  // Kept only after all ranges were compared, so that a conflicting access is not kept in part.
  for (std::size_t i = 0; i < ranges.size() && kept_.size() < kRangesMax; ++i) {
    // A read with a request ends by itself, so it needs an entry of its own that end_access() can remove.
    if (again[i] && !access.ends_alone) continue;
    longest_ = std::max(longest_, ranges[i].end - ranges[i].begin);
    kept_.emplace(ranges[i].begin, Kept{ranges[i].end, access});
  }
  return std::nullopt;
}

void ConflictTable::end_reads(std::int32_t origin) {
  std::erase_if(kept_, [&](const auto& kept) {
    const AnnouncedAccess& access = kept.second.access;
    return access.origin == origin && access.epoch != EpochKind::fence && access.reads();
  });
}

void ConflictTable::end_all(std::int32_t origin) {
  end_reads(origin);
  std::erase_if(kept_, [&](const auto& kept) {
    return kept.second.access.origin == origin && kept.second.access.epoch == EpochKind::passive;
  });
}

void ConflictTable::end_access(std::int32_t origin, std::uint64_t number) {
  std::erase_if(kept_, [&](const auto& kept) {
    return kept.second.access.origin == origin && kept.second.access.number == number;
  });
}

void ConflictTable::end_accesses_of_lost(std::int32_t origin) {
  std::erase_if(kept_, [&](const auto& kept) { return kept.second.access.origin == origin; });
}

void ConflictTable::end_exposure() {
  std::erase_if(kept_, [](const auto& kept) { return kept.second.access.epoch == EpochKind::exposure; });
}

void ConflictTable::end_fence(std::uint32_t fences) {
  std::erase_if(kept_, [&](const auto& kept) {
    return kept.second.access.epoch == EpochKind::fence && kept.second.access.fences < fences;
  });
}

}  // namespace margay::mpi_adi
