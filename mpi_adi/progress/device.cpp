// Device's functions: each goes to the protocol step that does it. Here, above the protocols, and not in device/,
// below.
#include "mpi_adi/device/device.hpp"

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/progress/progress.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/post_receive.hpp"
#include "mpi_adi/protocol/probe.hpp"
#include "mpi_adi/protocol/start_send.hpp"

namespace margay::mpi_adi {

struct Device::Impl {
  DeviceParts parts;
};

Device::Device(sim::Kernel& kernel, const DeviceOptions& options) : impl_(new Impl{{kernel, options}}) {}
Device::~Device() {
  delete impl_;
}

Request* Device::start_send(SendMode mode, const void* buffer, std::int64_t count, Datatype& type, int destination,
                            int tag, Communicator& communicator, Context context) {
  DeviceParts& parts = impl_->parts;
  if (destination == MPI_PROC_NULL) {
    Request& request = new_send(parts, communicator);
    complete_null(parts, request);
    return &request;
  }
  return &mpi_adi::start_send(parts, mode, buffer, count, type, destination, tag, communicator, context);
}

bool Device::send_now(SendMode mode, const void* buffer, std::int64_t count, Datatype& type, int destination, int tag,
                      Communicator& communicator, Context context) {
  if (destination == MPI_PROC_NULL) return true;
  return mpi_adi::send_now(impl_->parts, mode, buffer, count, type, destination, tag, communicator, context);
}

Request* Device::start_receive(void* buffer, std::int64_t count, Datatype& type, int source, int tag,
                               Communicator& communicator, Context context) {
  DeviceParts& parts = impl_->parts;
  if (source == MPI_PROC_NULL) {
    Request& request = new_receive(parts, communicator);
    complete_null(parts, request);
    return &request;
  }
  return &post_receive(parts, buffer, count, type, source, tag, communicator, context);
}

void Device::cancel(Request& request) {
  mpi_adi::cancel(impl_->parts, request);
}

void Device::free(Request& request) {
  release(impl_->parts, request);
}

bool Device::probe(int source, int tag, Communicator& communicator, Envelope& envelope, Context context) {
  progress();
  if (source == MPI_PROC_NULL) {
    envelope = {MPI_PROC_NULL, MPI_ANY_TAG, 0};
    return true;
  }
  return mpi_adi::probe(impl_->parts, source, tag, communicator, context, envelope);
}

bool Device::source_lost(int source, const Communicator& communicator) const {
  return mpi_adi::source_lost(impl_->parts, communicator, source);
}

Message* Device::matched_probe(int source, int tag, Communicator& communicator, Envelope& envelope) {
  progress();
  return mpi_adi::matched_probe(impl_->parts, source, tag, communicator, envelope);
}

Request* Device::start_matched_receive(void* buffer, std::int64_t count, Datatype& type, Message& message) {
  return &mpi_adi::start_matched_receive(impl_->parts, buffer, count, type, message);
}

bool Device::progress(int messages) {
  const bool moved = mpi_adi::progress(impl_->parts, messages);
  impl_->parts.heap.relieve(moved);  // device/unexpected
  return moved;
}

bool Device::progress_for_absent_owner() {
  return mpi_adi::progress(impl_->parts, kMessagesPerRound);
}

Communicator* Device::take_unreferenced() {
  auto& list = impl_->parts.unreferenced;
  if (list.empty()) return nullptr;
  Communicator* const taken = list.back();
  list.pop_back();
  return taken;
}

bool Device::has_unreferenced() const {
  return !impl_->parts.unreferenced.empty();
}

bool Device::quiet() const {
  const DeviceParts& parts = impl_->parts;
  return parts.under_way == 0 && parts.notices.in_use() == 0 && parts.kernel.idle();
}

const ProtocolCounts& Device::counts() const {
  ProtocolCounts& counts = impl_->parts.counts;
  // Of MPI's messages only ready ones can find no entry.
  counts.ready_dropped =
      impl_->parts.kernel.registers().drops()[static_cast<std::size_t>(portals::DropReason::no_match)];
  return counts;
}

std::uint64_t Device::heap_high_water_bytes() const {
  return impl_->parts.heap.high_water_bytes();
}

sim::Kernel& Device::kernel() {
  return impl_->parts.kernel;
}

DeviceParts& Device::parts() {
  return impl_->parts;
}

void Device::describe(std::string& out, std::size_t limit_lines) const {
  mpi_adi::describe(impl_->parts, out, limit_lines);
}

FirstWait Device::first_wait() const {
  return mpi_adi::first_wait(impl_->parts);
}

}  // namespace margay::mpi_adi
