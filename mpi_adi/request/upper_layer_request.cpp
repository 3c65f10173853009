#include "mpi_adi/request/upper_layer_request.hpp"

#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/protocol/receive.hpp"

namespace margay::mpi_adi {

SendReceive::SendReceive(Device& device, Communicator& of, std::unique_ptr<std::byte[]> copy)
    : UpperLayerRequest(RequestKind::send_receive), device_(device), copy_(std::move(copy)) {
  communicator = &of;
  ++of.references;
}

SendReceive::~SendReceive() {
  device_.drop_reference(*communicator);
}

void SendReceive::begin(Request& incoming, Request& outgoing) {
  // The parts may complete within these calls, which then call part_completed().
  device_.give_to(*this, incoming);
  device_.give_to(*this, outgoing);
}

void SendReceive::part_completed(const Request& part) {
  // The request's status is the receive's, as for MPI_Sendrecv.
  if (part.kind == RequestKind::receive) {
    source = part.source;
    tag = part.tag;
    bytes = part.bytes;
    if (part.error_class == MPI_ERR_TRUNCATE) text_ = truncation_text(static_cast<const ReceiveRequest&>(part));
  }
  if (error_ == MPI_SUCCESS) error_ = part.error_class;
  if (--incomplete_parts_ > 0) return;
  complete = true;
  // May delete the object, so no statement may follow.
  if (given_up_) delete this;
}

int SendReceive::outcome(MpiRank& /*rank*/, MPI_Status* status, std::string& text) {
  fill_status(status, source, tag, bytes);
  if (error_ == MPI_ERR_TRUNCATE) text = text_;
  return error_;
}

int SendReceive::give_up(MpiRank& /*rank*/, std::string& /*text*/) {
  given_up_ = true;
  if (complete) delete this;
  return MPI_SUCCESS;
}

}  // namespace margay::mpi_adi
