// What accumulates do to elements that lie one after another in a window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/abi/mpi.h"
#include "sim/shm/accumulate_lock.hpp"

namespace margay::mpi_adi {

// A complex number of two long doubles or two REAL*16; MPI_LONG_DOUBLE_INT with its padding.
inline constexpr std::uint32_t kElementBytesMax = 32;

// Bytes from one element to the next in memory, at most kElementBytesMax; 0: not a predefined datatype that has data.
// More than MPI_Type_size for a pair with padding.
[[nodiscard]] std::uint32_t accumulate_element_bytes(MPI_Datatype type);
// Of one element without the padding behind it, which may be outside of the window.
[[nodiscard]] std::uint32_t accumulate_data_bytes(MPI_Datatype type);
// Whether an accumulate may use the operation on the type (MPI 4.0, 12.3.4): a predefined one, MPI_REPLACE, MPI_NO_OP.
[[nodiscard]] bool accumulates(MPI_Op op, MPI_Datatype type);
// Whether MPI_Compare_and_swap takes the type: integers, logicals and bytes.
[[nodiscard]] bool swaps(MPI_Datatype type);
// Whether elements are integers of 32 or 64 bits, which the processor adds to at once, and wrap.
[[nodiscard]] bool is_integer_word(MPI_Datatype type);

// `lock`: of who has the memory, for elements that no instruction updates at once.
// Operands may lie at any address.
// target[i] = operand[i] op target[i], each element at once as others see it; what was there before to `result`, unless
// it is null. Requires: accumulates(op, type); `count` elements at each.
void accumulate_elements(std::byte* target, const std::byte* operand, std::byte* result, std::uint64_t count, MPI_Op op,
                         MPI_Datatype type, sim::AccumulateLock& lock);
// One element becomes `operand` if it equals `compare`, byte by byte; what was there before to `result`.
void swap_element(std::byte* target, const std::byte* operand, const std::byte* compare, std::byte* result,
                  std::uint32_t bytes, sim::AccumulateLock& lock);

}  // namespace margay::mpi_adi
