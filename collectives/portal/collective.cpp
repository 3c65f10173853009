#include "collectives/portal/collective.hpp"

#include <algorithm>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

Collective::Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, const Shape& shape,
                       const OwnPart& own)
    : portal_(portal),
      kernel_(portal.host().kernel()),
      communicator_(communicator),
      call_{.communicator = communicator, .number = number, .shape = shape},
      own_flow_(portal.frames(), &portal.host()),
      flow_(own_flow_) {
  ++communicator_.references;
  portal_.notices().enter(call_);
  portal_.notices().begin(call_);
  trace_begin(own);
}

Collective::Collective(TreePortal& portal, mpi_adi::Communicator& communicator, const Shape& shape, const OwnPart& own)
    : Collective(portal, communicator, portal.notices().take_number(communicator), shape, own) {}

Collective::Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const Shape& shape)
    : Collective(*static_cast<TreePortal*>(rank.collectives()), communicator, shape) {}

Collective::Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, Flow& flow,
                       mpi_adi::Task& task)
    : portal_(portal),
      kernel_(portal.host().kernel()),
      communicator_(communicator),
      call_{.communicator = communicator, .number = number, .task = &task},
      own_flow_(portal.frames(), nullptr),
      flow_(flow) {
  ++communicator_.references;
  portal_.notices().enter_nonblocking(call_);
}

void Collective::begin(const Shape& shape, const OwnPart& own) {
  call_.shape = shape;
  portal_.notices().begin(call_);
  trace_begin(own);
}

namespace {

// The root of a call as the trace records it.
struct RecordedRoot {
  sim::TraceRoot named = sim::TraceRoot::member;
  std::uint16_t rank = 0;
};

RecordedRoot recorded_root(const mpi_adi::Communicator& communicator, int of_shape, const OwnPart& own) {
  // A call between two groups runs on the communicator of both. There the program names the root as a rank of the
  // remote group, MPI_ROOT or MPI_PROC_NULL.
  const bool is_between = communicator.named_as != nullptr && communicator.named_as->is_inter();
  if (!is_between) return {sim::TraceRoot::member, static_cast<std::uint16_t>(of_shape)};
  if (!own.root) return {sim::TraceRoot::of_both, static_cast<std::uint16_t>(of_shape)};  // the library's own call
  if (*own.root == MPI_ROOT) return {sim::TraceRoot::here};
  if (*own.root == MPI_PROC_NULL) return {sim::TraceRoot::another};
  return {sim::TraceRoot::remote, static_cast<std::uint16_t>(*own.root)};
}

}  // namespace

void Collective::trace_begin(const OwnPart& own) const {
  if (!kernel_.recorder().on()) [[likely]]
    return;
  sim::TraceEvent event = trace_event(sim::TraceKind::collective_begin);
  event.bytes = call_.shape.bytes != 0 ? call_.shape.bytes : own.bytes;
  const RecordedRoot root = recorded_root(communicator_, call_.shape.root, own);
  event.reason = static_cast<std::uint8_t>(root.named);
  event.b = call_.shape.operation | std::uint32_t{call_.shape.algorithm} << 8U | std::uint32_t{root.rank} << 16U;
  kernel_.recorder().record(event);
}

void Collective::trace_end() const {
  if (!kernel_.recorder().on()) [[likely]]
    return;
  sim::TraceEvent event = trace_event(sim::TraceKind::collective_end);
  event.b = static_cast<std::uint32_t>(call_.error_class);
  kernel_.recorder().record(event);
}

sim::TraceEvent Collective::trace_event(sim::TraceKind kind) const {
  mpi_adi::define_in_trace(kernel_.recorder(), communicator_);
  sim::TraceEvent event;
  event.kind = kind;
  event.source = communicator_.world_rank(rank());
  event.match_bits = bits(rank());
  event.a = call_.number.word();
  return event;
}

Collective::~Collective() {
  // A body lies in the caller's memory, so the wires must have taken it before a blocking call returns.
  if (!flow_.suspends()) {
    run(Flush(*this));
  } else {
    MARGAY_ASSERT(transmissions_.empty());
  }
  trace_end();
  portal_.notices().end(call_);
  // Messages of a failed call may still arrive, so the contexts are not used for another communicator.
  if (call_.error_class != MPI_SUCCESS) [[unlikely]]
    communicator_.contexts_spent = true;
  // Messages that a failed call did not receive would stay in the heap, so they are discarded.
  if (has_call_failed()) [[unlikely]]
    portal_.discard_call(communicator_, call_.number);
  portal_.host().release(communicator_);
}

// A notice counts as a message of the call.
void Collective::send_ready(int source, portals::PortalIndex stream) {
  ++portal_.sent_.messages;
  portal_.notices().send_ready(call_, source, ready_kind(), stream);
}

void Collective::refuse_call() {
  fail(MPI_ERR_TRUNCATE);
  portal_.notices().find_wrong(call_);
}

void Collective::record_other_length(std::uint64_t expected_bytes) {
  fail(MPI_ERR_TRUNCATE);
  if (asks(expected_bytes)) portal_.notices().find_wrong(call_);
}

void Collective::own(portals::Descriptor& memory) const {
  if (call_.task == nullptr) {
    memory.set_owner_tag(nullptr, mpi_adi::kOwnerOthers);
  } else {
    memory.set_owner_tag(call_.task, mpi_adi::kOwnerTask);
  }
}

portals::Header Collective::header_to(int destination, std::uint64_t bytes, int stamp) const {
  portals::Header header;
  header.destination = {0, communicator_.world_rank(destination)};
  header.portal = mpi_adi::kCollectiveTreePortal;
  header.match_bits = bits(stamp);
  header.length = bytes;
  return header;
}

bool Collective::is_unreachable(int rank) const {
  return kernel_.initiator().is_unreachable(communicator_.world_rank(rank));
}

bool Collective::any_lost() const {
  // One load instead of a scan of the group: called in each poll.
  if (kernel_.initiator().losses() == 0) [[likely]]
    return false;
  // Only members count: the loss of another process does not concern the call.
  const auto& members = communicator_.group->world_ranks;
  return std::any_of(members.begin(), members.end(),
                     [this](std::uint32_t rank) { return kernel_.initiator().is_lost(rank); });
}

void Collective::transmit(const portals::Header& header, const portals::Region& body) {
  ++portal_.sent_.messages;
  portal_.sent_.bytes += header.length;
  // The common case: the wire takes the message whole, and nothing is allocated.
  if (kernel_.try_send(header, body)) return;
  sim::Transmission& transmission = transmissions_.emplace_back();
  transmission.header = header;
  transmission.body = body;
  transmission.owner = call_.task;
  transmission.owner_tag_kind = call_.task == nullptr ? mpi_adi::kOwnerOthers : mpi_adi::kOwnerTask;
  kernel_.send(transmission);
}

// Transmissions are not erased one by one: a finished one stays on the kernel's list until the list is drained.
bool Collective::all_taken() const {
  return std::all_of(transmissions_.begin(), transmissions_.end(),
                     [](const sim::Transmission& transmission) { return transmission.given_back; });
}

// These functions translate ranks of the communicator to ranks of the world, which the kernel uses.
void Part::expect_from(int member) const {
  collective_.kernel_.expect_answer(collective_.communicator_.world_rank(member));
}

void Part::count_answer_from(int member) const {
  collective_.kernel_.count_answer(collective_.communicator_.world_rank(member));
}

void Part::monitor(int member) const {
  collective_.kernel_.monitor(collective_.communicator_.world_rank(member));
}

bool Flush::taken() {
  auto& transmissions = collective_.transmissions_;
  if (!collective_.all_taken()) return false;
  const bool failed = std::any_of(
      transmissions.begin(), transmissions.end(),
      [](const sim::Transmission& transmission) { return transmission.state == sim::Transmission::State::failed; });
  if (failed) collective_.fail(MPIX_ERR_PROC_FAILED);
  transmissions.clear();
  return true;
}

}  // namespace margay::collectives
