#include "mpi/call/failure.hpp"

#include "mpi_adi/abi/handles.hpp"
#include "sim/boot/board.hpp"

namespace margay::mpi {

void Failure::concerns(int with_peer, int with_tag, std::uint64_t with_bytes) {
  if (peer != -1 || tag != -1) return;
  peer = with_peer;
  tag = with_tag;
  bytes = with_bytes;
}

// A window's communicator is known to the program as the window.
sim::FindingRecord Failure::record(const mpi_adi::Communicator* communicator) const {
  sim::FindingRecord record;
  record.peer = peer;
  record.tag = tag;
  record.bytes = bytes;
  if (communicator == nullptr) return record;
  const bool is_window = mpi_adi::object_type(communicator->handle) == mpi_adi::ObjectType::window;
  sim::set_text(record.communicator, is_window ? communicator->name : mpi_adi::communicator_text(*communicator));
  return record;
}

}  // namespace margay::mpi
