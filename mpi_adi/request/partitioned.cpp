#include "mpi_adi/request/partitioned.hpp"

#include "mpi_adi/device/trace_definitions.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::mpi_adi {

Partitioned::Partitioned(RequestKind which, MpiRank& rank, const PartitionedCall& call)
    : OwnRequest(which), device_(rank.device()), bytes_(*rank.handles().datatype(MPI_BYTE)), call_(call) {
  communicator = call.communicator;
}

int Partitioned::cancel(MpiRank& /*rank*/, std::string& words) {
  words = "the request is a partitioned one, which cannot be cancelled";
  return MPI_ERR_REQUEST;
}

void Partitioned::tell_trace(std::uint64_t channel, int sender) const {
  sim::Recorder& recorder = device_.kernel().recorder();
  if (!recorder.on()) return;
  const portals::MatchBits first =
      envelope_bits(partition_tag(channel, 0), sender, call_.communicator->collective_context);
  define_in_trace(recorder, PartitionsTold{.first = first,
                                           .sends = sends(),
                                           .tag = call_.tag,
                                           .partitions = call_.partitions,
                                           .count = call_.count,
                                           .type = *call_.type});
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
