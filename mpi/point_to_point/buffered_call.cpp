#include "mpi/point_to_point/buffered_call.hpp"

#include "mpi_adi/protocol/buffered.hpp"

namespace margay::mpi {

Request* start_buffered(Call& call, const CheckedSend& send) {
  if (send.destination != MPI_PROC_NULL) {
    const portals::Status sent = call.rank().buffered().send(send);
    if (!sent.ok()) {
      call.error(MPI_ERR_BUFFER, sent.sentence());
      return nullptr;
    }
  }
  // What the program holds is over at once, as a send to nobody is.
  return &call.device().sent();
}

}  // namespace margay::mpi
