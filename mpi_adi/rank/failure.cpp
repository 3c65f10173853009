#include "mpi_adi/rank/failure.hpp"

#include "mpi_adi/protocol/receive.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

std::string failure_text(MpiRank& rank, const Request& request) {
  if (request.error_class == MPI_ERR_TRUNCATE) return truncation_text(static_cast<const ReceiveRequest&>(request));
  if (request.error_class == MPI_ERR_OTHER) return kContextsUsedUp;  // MPI_Comm_idup found no free context
  return lost_text(rank);
}

std::string lost_text(MpiRank& rank) {
  const sim::Kernel& kernel = rank.process().kernel();
  // Another member may have reported a loss to this process before the operating system did.
  if (kernel.initiator().losses() == 0)
    return "a process that the call needs has failed, as another member of the call reports";
  std::string text = "a process that the call needs has failed:";
  for (std::uint32_t peer = 0; peer < kernel.ranks(); ++peer) {
    if (kernel.initiator().is_unreachable(peer))
      text += " rank " + std::to_string(peer) + " (" + kernel.initiator().loss(peer) + ")";
  }
  return text;
}

}  // namespace margay::mpi_adi
