// What a communicator is called wherever people read of it: stories, charts, checks, reports of stalls and leaks.
#pragma once

#include <string>

#include "mpi_adi/object/communicator.hpp"

namespace margay::mpi_adi {

// "MPI_COMM_WORLD"; of one without a name "communicator 6 (4 ranks)", "intercommunicator 6 (2 and 3 ranks)": by its
// context, as a trace's reader tells it (command/trace/names/names). Of two groups first the one that is first in
// everybody(), so that all members say the same.
[[nodiscard]] std::string communicator_word(const Communicator& communicator);
// The same of one of which no more than its context is known: "communicator 6".
[[nodiscard]] std::string communicator_word(ContextId context);

}  // namespace margay::mpi_adi
