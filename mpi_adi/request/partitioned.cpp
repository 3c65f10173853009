#include "mpi_adi/request/partitioned.hpp"

namespace margay::mpi_adi {

Partitioned::Partitioned(RequestKind which, MpiRank& rank, const PartitionedCall& call)
    : OwnRequest(which), device_(rank.device()), bytes_(*rank.handles().datatype(MPI_BYTE)), call_(call) {
  communicator = call.communicator;
}

int Partitioned::cancel(MpiRank& /*rank*/, std::string& words) {
  words = "the request is a partitioned one, which cannot be cancelled";
  return MPI_ERR_REQUEST;
}

void Partitioned::begin_round(std::uint64_t messages) {
  active_ = true;
  error_ = MPI_SUCCESS;
  under_way_ = messages;
  complete = messages == 0;
}

void Partitioned::message_completed(const Request& message) {
  if (error_ == MPI_SUCCESS) error_ = message.error_class;
  complete = --under_way_ == 0;
}

}  // namespace margay::mpi_adi
