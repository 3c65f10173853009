// The values that a variable may have, each with a name (MPI_T_enum).
#pragma once

#include <cstdint>
#include <span>

#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"

namespace margay::mpi {

struct EnumerationItem {
  const char* name;
  int value;
};

// Constant, alive as long as the process.
struct Enumeration {
  const char* name;
  std::span<const EnumerationItem> items;
};

// Values of tcp_backends() that only options have.
enum class TcpBackendAsked : std::uint8_t { automatic, epoll, uring };

[[nodiscard]] const Enumeration& long_protocols();
[[nodiscard]] const Enumeration& long_methods();
[[nodiscard]] const Enumeration& wait_policies();
[[nodiscard]] const Enumeration& tcp_backends();
[[nodiscard]] const Enumeration& heaps_in_use();

// What a program holds: MPI_T_ENUM_NULL for nullptr.
[[nodiscard]] MPI_T_enum enumeration_handle(const Enumeration* enumeration);
// Whose handle it is; nullptr: nobody's.
[[nodiscard]] const Enumeration* find_enumeration(MPI_T_enum handle);

// Whether `value` is one of the items'.
[[nodiscard]] bool has_item(const Enumeration& enumeration, int value);

}  // namespace margay::mpi
