// Accumulate operations on elements that lie one after another in a window. Several processes of the node may execute
// these functions on the same memory at once, so each element is updated atomically.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/abi/mpi.h"
#include "sim/shm/accumulate_lock.hpp"

namespace margay::mpi_adi {

// The largest element: a complex number of two long doubles or two REAL*16, or MPI_LONG_DOUBLE_INT with its padding.
inline constexpr std::uint32_t kElementBytesMax = 32;

// Bytes from one element to the next in memory, at most kElementBytesMax; 0: the type is not predefined, or has no
// data. For a pair with padding this is more than MPI_Type_size.
[[nodiscard]] std::uint32_t accumulate_element_bytes(MPI_Datatype type);
// Bytes of one element without the padding behind it. The last element's padding may lie outside of the window.
[[nodiscard]] std::uint32_t accumulate_data_bytes(MPI_Datatype type);
// Whether an accumulate may use the operation on the type (MPI 4.0, 12.3.4). The operation is a predefined one,
// MPI_REPLACE or MPI_NO_OP.
[[nodiscard]] bool accumulates(MPI_Op op, MPI_Datatype type);
// Whether MPI_Compare_and_swap accepts the type: integers, logicals and bytes.
[[nodiscard]] bool swaps(MPI_Datatype type);
// Whether the elements are integers of 32 or 64 bits, to which the processor adds in one instruction, and which wrap
// round.
[[nodiscard]] bool is_integer_word(MPI_Datatype type);

// Sets target[i] to operand[i] op target[i], each element atomically with respect to other accumulates. The previous
// elements go to `result` unless it is null. Operands may lie at any address. `lock`: the lock of the memory's owner,
// for elements that no instruction updates atomically. Requires: accumulates(op, type); `count` elements in each array.
void accumulate_elements(std::byte* target, const std::byte* operand, std::byte* result, std::uint64_t count, MPI_Op op,
                         MPI_Datatype type, sim::AccumulateLock& lock);
// Replaces one element by `operand` if it equals `compare`, byte by byte; the previous element goes to `result` unless
// it is null. Requires: swaps() holds for the element's type, and `bytes` is its size.
void swap_element(std::byte* target, const std::byte* operand, const std::byte* compare, std::byte* result,
                  std::uint32_t bytes, sim::AccumulateLock& lock);

}  // namespace margay::mpi_adi
