// The names of MPI's error classes, for the numbers that a trace has.
#pragma once

#include <cstdint>
#include <string>

namespace margay::sim {

// "MPI_ERR_TRUNCATE"; "class 99" of one that the program added (MPI 4.0, 9.5).
[[nodiscard]] std::string error_name(std::uint32_t error_class);

}  // namespace margay::sim
