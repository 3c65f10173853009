// Lists objects that a program never freed: at MPI_Finalize, at the end of a session and when the process exits, when
// MARGAY_LEAKS asks for it.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/layers.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

// What ends. A request, communicator or group belongs to the world model or to a session; a datatype, operation,
// matched message or attribute key lives as long as any of them is open. Info objects and error handlers may be made
// before all of them and freed after all of them (MPI 4.0, 11.4.1): they are listed when the process exits.
struct Ending {
  std::uint32_t session = 0;  // Session::number; 0: the world model
  bool last = false;          // nothing else is open
};

// One line on standard error for each object that is still alive and ends here, with the function that made it, and a
// line with the counts; nothing when there is none, or when the rank keeps no origins. Requires: the process lock is
// held.
void report_leaks(MpiRank& rank, Ending ending);
// Info objects and error handlers of a process that exits after its last session and MPI_Finalize, as text. Empty
// without one.
[[nodiscard]] std::string report_of_exit(MpiRank& rank);
// The same of a process that ends with open sessions, as text: these, and all that is still alive but the world's.
// Empty without one.
[[nodiscard]] std::string report_of_open_sessions(MpiRank& rank);

}  // namespace margay::mpi
