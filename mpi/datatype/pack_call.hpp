// Checks of packing, in the machine's own representation and in external32.
#pragma once

#include <string>

#include "mpi/datatype/type_call.hpp"

namespace margay::mpi {

// `count` times `bytes`; sets MPI_ERR_COUNT if the product passes 2^63. 0 for a negative count, which another check
// reports.
[[nodiscard]] inline std::uint64_t total_bytes(Call& call, std::int64_t count, std::uint64_t bytes) {
  std::int64_t all = 0;
  if (count < 0 || !__builtin_mul_overflow(count, bytes, &all)) return count < 0 ? 0 : static_cast<std::uint64_t>(all);
  call.error(MPI_ERR_COUNT, "count is " + std::to_string(count) + "; as many elements of " + std::to_string(bytes) +
                                " bytes exceed 2^63 bytes");
  return 0;
}

// Bytes of `count` packed elements, without gaps or headers; 0 after an error. `type` null: its lookup has failed and
// has set the error.
[[nodiscard]] inline std::uint64_t packed_bytes(Call& call, const Datatype* type, std::int64_t count) {
  return type == nullptr ? 0 : total_bytes(call, count, type->size);
}

// Checks that `bytes` fit behind `position` in a packed buffer of `room` bytes, and that the buffer is valid if `bytes`
// is not 0. Sets MPI_ERR_ARG or MPI_ERR_BUFFER. Room and position are in bytes too (MPI 4.0, 5.2); the position is not
// changed here.
template <typename Position>
void check_room(Call& call, const void* packed, const char* packed_name, Position room, const char* room_name,
                const Position* position, std::uint64_t bytes) {
  if (room < 0) call.error(MPI_ERR_ARG, std::string(room_name) + " is " + std::to_string(room) + ", below 0");
  call.not_null(position, "position");
  if (!call.ok()) return;
  if (bytes != 0 && packed == nullptr) call.error(MPI_ERR_BUFFER, std::string(packed_name) + " is a null pointer");
  if (bytes != 0 && packed == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, std::string(packed_name) + " is MPI_IN_PLACE, which is not valid here");
  }
  if (*position < 0) call.error(MPI_ERR_ARG, "position is " + std::to_string(*position) + ", below 0");
  if (*position <= room && bytes <= static_cast<std::uint64_t>(room - *position)) return;
  call.error(MPI_ERR_ARG, std::string(room_name) + " is " + std::to_string(room) + " and position " +
                              std::to_string(*position) + "; the elements take " + std::to_string(bytes) + " bytes");
}

}  // namespace margay::mpi
