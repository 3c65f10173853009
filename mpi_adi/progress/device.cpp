#include "mpi_adi/progress/device.hpp"

#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/progress/progress.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/held_receives.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/post_receive.hpp"
#include "mpi_adi/protocol/probe.hpp"
#include "mpi_adi/protocol/send.hpp"
#include "sim/boot/board.hpp"

namespace margay::mpi_adi {

Device::Device(sim::Kernel& kernel, const DeviceOptions& options)
    : parts_(std::make_unique<DeviceParts>(kernel, options)),
      unreferenced_(&parts_->unreferenced),
      tasks_(&parts_->tasks) {
  sent_.kind = RequestKind::sent;
  sent_.complete = true;
}

// Receives that are already posted are counted on the board, too.
void Device::count_in(sim::BoardBlock& board) {
  DeviceParts& parts = *parts_;
  board.posted_receives = *parts.posted_receives;
  parts.posted_receives = &board.posted_receives;
  parts.heap.count_in(board.unexpected);
}

Device::~Device() = default;

Request* Device::start_send(const CheckedSend& send) {
  // Nearly all short messages end here, without a request.
  if (send_now(send)) return &sent_;
  return &mpi_adi::start_send(*parts_, send);
}

bool Device::send_now(const CheckedSend& send) {
  // A message to MPI_PROC_NULL is complete without a transmission.
  if (send.destination == MPI_PROC_NULL) return true;
  return mpi_adi::send_now(*parts_, send);
}

Request* Device::start_receive(const CheckedReceive& receive) {
  DeviceParts& parts = *parts_;
  if (receive.source == MPI_PROC_NULL) {
    Request& request = new_receive(parts, *receive.communicator);
    complete_null(parts, request);
    return &request;
  }
  return &post_receive(parts, receive);
}

Request* Device::start_receive_of(const CheckedReceive& receive, Datatype& traced_type) {
  return &post_receive_of(*parts_, receive, traced_type);
}

void Device::cancel(Request& request) {
  mpi_adi::cancel(*parts_, request);
}

void Device::free(Request& request) {
  release(*parts_, request);
}

void Device::give_to(ParentRequest& owner, Request& request) {
  release_to(*parts_, owner, request);
}

void Device::drop_reference(Communicator& communicator) {
  mpi_adi::drop_reference(*parts_, communicator);
}

bool Device::probe(int source, int tag, Communicator& communicator, Envelope& envelope, Context context,
                   std::optional<sim::TraceProbe> call) {
  if (source == MPI_PROC_NULL) {
    envelope = {MPI_PROC_NULL, MPI_ANY_TAG, 0};
    return true;
  }
  return mpi_adi::probe(*parts_, source, tag, communicator, context, envelope, call);
}

bool Device::is_source_lost(int source, const Communicator& communicator) const {
  return mpi_adi::is_source_lost(*parts_, communicator, source);
}

Message* Device::matched_probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                               sim::TraceProbe call) {
  return mpi_adi::matched_probe(*parts_, source, tag, communicator, envelope, call);
}

Request* Device::start_matched_receive(void* buffer, std::int64_t count, Datatype& type, Message& message) {
  return &mpi_adi::start_matched_receive(*parts_, buffer, count, type, message);
}

namespace {

// Out of line, because no message is ever held in a program that receives in time.
[[gnu::noinline]] void relieve_heaps(DeviceParts& parts) {
  parts.relieving = false;
  parts.kernel.target().clear_holds();
  for (Unexpected* const heap : parts.heaps) {
    heap->relieve(parts.kernel.target().take_longest_hold(heap->portal()));
    parts.relieving |= heap->holding() || heap->spilling();
  }
}

}  // namespace

bool Device::progress(int messages) {
  // The kernel's progress runs first, because its deliveries wake the tasks that run next.
  bool moved = mpi_adi::progress(*parts_, messages);
  TaskQueue& tasks = parts_->tasks;
  if (tasks.any_awake()) [[unlikely]]
    moved |= tasks.run(TaskQueue::Runner::program);
  // A message is held, was held in the latest round, or a second heap is open.
  if (parts_->kernel.target().holds_any() || parts_->relieving) [[unlikely]]
    relieve_heaps(*parts_);  // device/unexpected
  return moved;
}

bool Device::progress_for_absent_owner() {
  return mpi_adi::progress_for_absent_owner(*parts_, kMessagesPerRound);
}

void Device::about_to_sleep() {
  for (Unexpected* const heap : parts_->heaps) heap->relieve_sleeper();
}

Communicator* Device::take_unreferenced() {
  auto& list = parts_->unreferenced;
  if (list.empty()) return nullptr;
  Communicator* const taken = list.back();
  list.pop_back();
  return taken;
}

namespace {

template <typename Condition>
bool any_task(const TaskQueue& tasks, Condition condition) {
  bool any = false;
  tasks.for_each([&](const Task& task) { any |= condition(task.works_on()); });
  return any;
}

}  // namespace

bool Device::quiet(const Communicator& communicator) const {
  const auto is_incomplete = [&](const Request& request) {
    return !request.complete && request.communicator == &communicator;
  };
  const DeviceParts& parts = *parts_;
  return !parts.sends.any_in_use(is_incomplete) && !parts.receives.any_in_use(is_incomplete) &&
         !any_task(parts.tasks, [&](const Communicator* of) { return of == &communicator; });
}

namespace {

// Tasks without a communicator belong to every session, so that a session waits for them.
bool is_of(std::optional<std::uint32_t> session, const Communicator* communicator) {
  return !session || communicator == nullptr || communicator->group->session == *session;
}

// Whether the request is not complete, and belongs to the session, if one is given.
bool is_incomplete_in(std::optional<std::uint32_t> session, const Request& request) {
  return !request.complete && is_of(session, request.communicator);
}

bool idle(const DeviceParts& parts) {
  return parts.header_messages.in_use() == 0 && parts.kernel.idle();
}

}  // namespace

bool Device::quiet(std::optional<std::uint32_t> session) const {
  const DeviceParts& parts = *parts_;
  // Without a session the counters suffice, and no pass over the pools is needed.
  if (!session) return parts.incomplete_requests == 0 && idle(parts);
  const auto is_incomplete = [session](const Request& request) { return is_incomplete_in(session, request); };
  return !parts.sends.any_in_use(is_incomplete) && !parts.receives.any_in_use(is_incomplete) &&
         !any_task(parts.tasks, [session](const Communicator* of) { return is_of(session, of); });
}

bool Device::quiet_but_unmatched(std::uint32_t session) const {
  const DeviceParts& parts = *parts_;
  return !parts.sends.any_in_use([&](const SendRequest& send) {
    return send.peer != parts.kernel.me().rank && is_incomplete_in(session, send);
  }) && !parts.receives.any_in_use([&](const ReceiveRequest& receive) {
    return !is_unmatched(receive) && is_incomplete_in(session, receive);
  }) && !any_task(parts.tasks, [session](const Communicator* of) { return is_of(session, of); });
}

void Device::give_up_sends(std::uint32_t session, Receivers receivers) {
  DeviceParts& parts = *parts_;
  std::vector<SendRequest*> unmatched;
  parts.sends.for_each_in_use([&](SendRequest& send) {
    const bool may_be_received = receivers == Receivers::remain && send.peer != parts.kernel.me().rank;
    if (!may_be_received && is_incomplete_in(session, send)) unmatched.push_back(&send);
  });
  // ask_back() has no effect on a send that waits only for its wire: such a send completes without its receiver.
  for (SendRequest* const send : unmatched) ask_back(parts, *send, AskBack::nobody_receives);
}

bool Device::sends_over(std::optional<std::uint32_t> session) const {
  const DeviceParts& parts = *parts_;
  if (!session && !idle(parts)) return false;
  return !parts.sends.any_in_use([session](const SendRequest& send) { return is_incomplete_in(session, send); });
}

void Device::give_up_receives(std::uint32_t session) {
  std::vector<Request*> unmatched;
  parts_->receives.for_each_in_use([&](ReceiveRequest& receive) {
    if (is_incomplete_in(session, receive)) unmatched.push_back(&receive);
  });
  // cancel() has no effect on receives that have a message.
  for (Request* const request : unmatched) cancel(*request);
}

void Device::discard_messages(ContextId context) {
  mpi_adi::discard_messages(*parts_, context);
}

void Device::give_memory_back() {
  for (Unexpected* const heap : parts_->heaps) heap->give_memory_back();
}

const ProtocolCounts& Device::counts() const {
  ProtocolCounts& counts = parts_->counts;
  // At the receive portal, only ready messages can find no entry, because the catch-alls accept all others. The
  // messages of windows go to other portals.
  counts.ready_dropped = parts_->kernel.target().unmatched_puts(kReceivePortal);
  return counts;
}

std::uint64_t Device::heap_high_water_bytes() const {
  return parts_->heap.high_water_bytes();
}

sim::Kernel& Device::kernel() {
  return parts_->kernel;
}

DeviceParts& parts_of(Device& device) {
  return *device.parts_;
}

void Device::request_begins() {
  ++parts_->incomplete_requests;
}

void Device::request_ends() {
  --parts_->incomplete_requests;
  ++parts_->completions;
}

void Device::record_completion() {
  ++parts_->completions;
}

void Device::begin_probe(const Awaited& awaited) {
  parts_->probes.push_back(&awaited);
}

void Device::end_probe(const Awaited& awaited) {
  std::erase(parts_->probes, &awaited);
}

std::uint64_t Device::completions() const {
  return parts_->completions;
}

void Device::follow_wildcards(WildcardWatch& watch, bool holds) {
  held_receives_ = std::make_unique<HeldReceives>(*parts_, watch, holds);
  parts_->held_receives = held_receives_.get();
  parts_->recorder().start_observing();
}

TypeCheck* Device::type_check() {
  return parts_->type_check.get();
}

const Unexpected& Device::heap() const {
  return parts_->heap;
}

std::vector<Unexpected*>& Device::extensible_heaps() {
  return parts_->heaps;
}

std::vector<Listener*>& Device::round_observers() {
  return parts_->each_round;
}

std::vector<Listener*>& Device::loss_observers() {
  return parts_->on_losses;
}

void Device::name_portal(portals::PortalIndex portal, const std::string& name) {
  parts_->portal_names.erase(portal);
  if (!name.empty()) parts_->portal_names.emplace(portal, name);
}

std::uint64_t Device::number_of(const portals::ArrivedMessage& message) const {
  return parts_->message_numbers.of(message);
}

std::uint64_t Device::posted_receives(const Communicator* communicator) const {
  std::uint64_t posted = 0;
  parts_->receives.for_each_in_use([&](const ReceiveRequest& request) {
    if (request.state != ReceiveState::posted || request.complete) return;
    if (communicator == nullptr || request.communicator == communicator) ++posted;
  });
  return posted;
}

std::uint64_t Device::requests_under_way() const {
  return parts_->incomplete_requests;
}

std::size_t Device::sends_in_use() const {
  return parts_->sends.in_use();
}

std::size_t Device::receives_in_use() const {
  return parts_->receives.in_use();
}

const DeviceOptions& Device::options() const {
  return parts_->options;
}

void Device::set_long_protocol(DeviceOptions::LongProtocol protocol) {
  parts_->options.long_protocol = protocol;
}

std::uint64_t Device::short_limit(sim::WireId wire) const {
  return parts_->short_limits[static_cast<std::size_t>(wire)];
}

void Device::set_short_limit(sim::WireId wire, std::uint64_t bytes) {
  parts_->set_short_limit(wire, bytes);
}

void Device::describe(std::string& out, std::size_t limit_lines) const {
  mpi_adi::describe(*parts_, out, limit_lines);
}

FirstWait Device::first_wait() const {
  return mpi_adi::first_wait(*parts_);
}

}  // namespace margay::mpi_adi
