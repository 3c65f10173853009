#include "mpi_adi/mpi/buffered_call.hpp"

namespace margay::mpi_adi {

Request* start_buffered(Call& call, const void* buffer, std::int64_t count, Datatype& type, int destination, int tag,
                        Communicator& communicator) {
  if (destination != MPI_PROC_NULL) {
    const portals::Status sent = call.rank().buffered().send(buffer, count, type, destination, tag, communicator);
    if (!sent.ok()) {
      call.error(MPI_ERR_BUFFER, sent.sentence());
      return nullptr;
    }
  }
  // What the program holds is over at once, as a send to nobody is.
  return call.device().start_send(SendMode::standard, nullptr, 0, type, MPI_PROC_NULL, tag, communicator);
}

}  // namespace margay::mpi_adi
