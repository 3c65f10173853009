// Access to MPI_Status (MPI 4.0, 3.2.5). The count of bytes has 63 bits in two words. The lowest bit of the second word
// means "cancelled".
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// The layout of the MPICH ABI, which programs access directly.
static_assert(sizeof(MPI_Status) == 20 && offsetof(MPI_Status, MPI_SOURCE) == 8);

// The mask of the cancelled bit in count_hi_and_cancelled.
inline constexpr std::uint32_t kStatusCancelledBit = 1;

// Whether the program passed MPI_STATUS_IGNORE.
[[nodiscard]] inline bool ignores(const MPI_Status* status) {
  return status == MPI_STATUS_IGNORE;
}

// The count of bytes, as MPI_Get_count reads it. Not the number of elements.
[[nodiscard]] constexpr std::uint64_t status_bytes(const MPI_Status& status) {
  // The word also has the cancelled bit, below the count's high 31 bits.
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1;
  return (static_cast<std::uint64_t>(high) << 32) | static_cast<std::uint32_t>(status.count_lo);
}

// Sets the count, and keeps the cancelled bit. Requires: bytes < 2^63.
constexpr void set_status_bytes(MPI_Status& status, std::uint64_t bytes) {
  const auto cancelled = static_cast<std::uint32_t>(status.count_hi_and_cancelled) & kStatusCancelledBit;
  status.count_lo = static_cast<int>(static_cast<std::uint32_t>(bytes));
  status.count_hi_and_cancelled = static_cast<int>((static_cast<std::uint32_t>(bytes >> 32) << 1) | cancelled);
}

// The cancelled bit (MPI_Test_cancelled).
[[nodiscard]] constexpr bool status_cancelled(const MPI_Status& status) {
  return (static_cast<std::uint32_t>(status.count_hi_and_cancelled) & kStatusCancelledBit) != 0;
}

// Sets or clears the cancelled bit, and keeps the count.
constexpr void set_status_cancelled(MPI_Status& status, bool cancelled) {
  const auto rest = static_cast<std::uint32_t>(status.count_hi_and_cancelled) & ~kStatusCancelledBit;
  status.count_hi_and_cancelled = static_cast<int>(rest | (cancelled ? kStatusCancelledBit : 0U));
}

// The functions below have no effect on MPI_STATUS_IGNORE. None writes MPI_ERROR, which the standard reserves for calls
// that complete several requests.

// Sets all fields but MPI_ERROR, and clears the cancelled bit.
// `source`: a rank in the communicator, or MPI_PROC_NULL. `bytes`: of data received.
inline void fill_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) {
  if (ignores(status)) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  // Clears the cancelled bit, which set_status_bytes() keeps.
  status->count_hi_and_cancelled = 0;
  set_status_bytes(*status, bytes);
}

// Sets the standard's empty status (of a wait for a null or inactive request): any source, any tag, no bytes.
inline void empty_status(MPI_Status* status) {
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

// Sets the status of a receive from MPI_PROC_NULL.
inline void proc_null_status(MPI_Status* status) {
  fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

}  // namespace margay::mpi_adi
