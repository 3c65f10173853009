// The list of objects that a program never freed: at MPI_Finalize, at the end of a session, and when the process exits,
// if MARGAY_LEAKS requests it.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/layers.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

// The world model or session that ends. A request, communicator or group belongs to one of them; a datatype, operation,
// matched message or attribute key lives as long as any of them is open. Info objects and error handlers may be made
// before all of them and freed after all of them (MPI 4.0, 11.4.1), so they are listed when the process exits.
struct Ending {
  std::uint32_t session = 0;  // Session::number; 0: the world model
  bool last = false;          // nothing else is open
};

// Prints a line for each object that ends here and is still alive, with the function that made it, and a line with the
// counts; prints nothing if there is no such object, or if the rank records no origins. Requires: the process lock is
// held.
void report_leaks(MpiRank& rank, Ending ending);
// The report of a process that exits after its last session and MPI_Finalize, on info objects and error handlers. Empty
// without a finding. Requires for both reports of an exit: the process lock is held. The caller prints them, by write()
// and not by stdio, whose lock interrupted code may hold.
[[nodiscard]] std::string report_of_exit(MpiRank& rank);
// The report of a process that exits with open sessions: these, and all objects but the world model's. Empty without an
// open session. Each object is reported at one end only.
[[nodiscard]] std::string report_of_open_sessions(MpiRank& rank);

}  // namespace margay::mpi
