// Scan and exclusive scan by recursive doubling: in round k partners 2^k apart exchange what their ranges of ranks come
// to. Who has the upper range adds the lower one to its result; both have the range of both then. Cost:
// ceil(log2 p) (α + n β + 2 n γ).
//
// Ranges are combined in the order of ranks, so the operation need not be commutative; how they are bracketed depends
// on the number of ranks alone.
#include <cstring>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/scratch.hpp"

namespace margay::collectives {

Steps scan_exchange(Collective& collective, ScanKind kind, std::byte* partial, std::size_t count,
                    std::size_t element_bytes, Reducer combine) {
  const int size = collective.size();
  const int rank = collective.rank();
  const std::uint64_t bytes = count * element_bytes;
  Scratch first(collective, bytes);
  Scratch second(collective, bytes);
  std::byte* range = first.base();  // of the ranks of this one's range
  std::byte* theirs = second.base();
  bool has_result = kind == ScanKind::inclusive;
  if (bytes != 0) std::memcpy(range, partial, bytes);
  for (int distance = 1; distance < size; distance *= 2) {
    const int partner = rank ^ distance;
    if (partner >= size) continue;
    co_await Exchange(collective, partner, range, partner, theirs, bytes);
    co_await Flush(collective);  // what was sent is about to be overwritten
    if (bytes == 0 || collective.error_class() != MPI_SUCCESS) continue;
    if (partner > rank) {
      combine(range, theirs, count);
      std::swap(range, theirs);
      continue;
    }
    if (has_result) {
      combine(theirs, partial, count);
    } else {
      std::memcpy(partial, theirs, bytes);
    }
    has_result = true;
    combine(theirs, range, count);
  }
}

}  // namespace margay::collectives
