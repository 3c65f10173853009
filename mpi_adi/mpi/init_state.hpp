// Where the process stands between MPI_Init and MPI_Finalize; the only thing that calls may ask at any time.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

enum class InitState : std::uint8_t { before, running, finalized };

[[nodiscard]] InitState init_state();
void set_init_state(InitState state);

}  // namespace margay::mpi_adi
