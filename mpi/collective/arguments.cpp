#include "mpi/collective/arguments.hpp"

#include "collectives/portal/rank_host.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::mpi {

void check_buffers(Call& call, const void* send, const void* receive, std::int64_t count) {
  if (!call.ok() || count == 0) return;
  if (receive == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the receive buffer is MPI_IN_PLACE; that stands for the send buffer");
  } else if (send == receive) {
    call.error(MPI_ERR_BUFFER, "send and receive buffer are the same; say MPI_IN_PLACE for the send buffer");
  }
}

void note_error(Call& call, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return;
  if (error_class == MPI_ERR_TRUNCATE) let_the_check_speak(call.rank());
  if (error_class == MPI_ERR_OTHER) {
    return call.error(error_class,
                      "a block could not be read out of its rank's memory (process_vm_readv); --method long=ring takes "
                      "another way");
  }
  if (error_class == MPI_ERR_GROUP) {
    return call.error(error_class, "a member named processes that are not in the job, or one of them twice");
  }
  if (error_class == MPI_ERR_TOPOLOGY) {
    return call.error(error_class,
                      "a member sent edges that this process is not part of, or to ranks that do not exist");
  }
  if (error_class == MPI_ERR_NO_MEM) {
    return call.error(error_class, "not enough memory for the edges that a member sent");
  }
  call.error(error_class, error_class == MPI_ERR_TRUNCATE ? kDifferentCalls : words_of_lost(call.rank()));
}

}  // namespace margay::mpi
