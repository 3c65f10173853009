#include "mpi_adi/progress/device.hpp"

#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/progress/absent_owner.hpp"
#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/progress/progress.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/post_receive.hpp"
#include "mpi_adi/protocol/probe.hpp"
#include "mpi_adi/protocol/start_send.hpp"
#include "sim/boot/board.hpp"

namespace margay::mpi_adi {

struct Device::Impl {
  DeviceParts parts;
};

Device::Device(sim::Kernel& kernel, const DeviceOptions& options)
    : impl_(new Impl{{kernel, options}}), unreferenced_(&impl_->parts.unreferenced), tasks_(&impl_->parts.tasks) {
  sent_.kind = RequestKind::sent;
  sent_.complete = true;
}
void Device::count_in(sim::BoardBlock& board) {
  DeviceParts& parts = impl_->parts;
  board.posted_receives = *parts.posted_receives;
  parts.posted_receives = &board.posted_receives;
  parts.heap.count_in(board.unexpected);
}

Device::~Device() {
  delete impl_;
}

Request* Device::start_send(const CheckedSend& send) {
  if (send_now(send)) return &sent_;
  return &mpi_adi::start_send(impl_->parts, send);
}

bool Device::send_now(const CheckedSend& send) {
  if (send.destination == MPI_PROC_NULL) return true;
  return mpi_adi::send_now(impl_->parts, send);
}

Request* Device::start_receive(const CheckedReceive& receive) {
  DeviceParts& parts = impl_->parts;
  if (receive.source == MPI_PROC_NULL) {
    Request& request = new_receive(parts, *receive.communicator);
    complete_null(parts, request);
    return &request;
  }
  return &post_receive(parts, receive);
}

Request* Device::start_receive_of(const CheckedReceive& receive, Datatype& told) {
  return &post_receive_of(impl_->parts, receive, told);
}

void Device::cancel(Request& request) {
  mpi_adi::cancel(impl_->parts, request);
}

void Device::free(Request& request) {
  release(impl_->parts, request);
}

void Device::give_to(RequestOwner& owner, Request& request) {
  release_to(impl_->parts, owner, request);
}

void Device::drop_reference(Communicator& communicator) {
  mpi_adi::drop_reference(impl_->parts, communicator);
}

bool Device::probe(int source, int tag, Communicator& communicator, Envelope& envelope, Context context,
                   std::optional<sim::TraceProbe> call) {
  if (source == MPI_PROC_NULL) {
    envelope = {MPI_PROC_NULL, MPI_ANY_TAG, 0};
    return true;
  }
  return mpi_adi::probe(impl_->parts, source, tag, communicator, context, envelope, call);
}

bool Device::source_lost(int source, const Communicator& communicator) const {
  return mpi_adi::source_lost(impl_->parts, communicator, source);
}

Message* Device::matched_probe(int source, int tag, Communicator& communicator, Envelope& envelope,
                               sim::TraceProbe call) {
  return mpi_adi::matched_probe(impl_->parts, source, tag, communicator, envelope, call);
}

Request* Device::start_matched_receive(void* buffer, std::int64_t count, Datatype& type, Message& message) {
  return &mpi_adi::start_matched_receive(impl_->parts, buffer, count, type, message);
}

namespace {

[[gnu::noinline]] void relieve_heaps(DeviceParts& parts) {
  parts.relieving = false;
  parts.kernel.forget_holds();
  for (Unexpected* const heap : parts.heaps) {
    heap->relieve(parts.kernel.take_longest_hold(heap->portal()));
    parts.relieving |= heap->holding() || heap->spilling();
  }
}

}  // namespace

bool Device::progress(int messages) {
  bool moved = mpi_adi::progress(impl_->parts, messages);
  TaskQueue& tasks = impl_->parts.tasks;
  if (tasks.any_awake()) [[unlikely]]
    moved |= tasks.run(TaskQueue::Who::program);
  if (impl_->parts.kernel.holds_any() || impl_->parts.relieving) [[unlikely]]
    relieve_heaps(impl_->parts);  // device/unexpected
  return moved;
}

bool Device::progress_for_absent_owner() {
  return mpi_adi::progress_for_absent_owner(impl_->parts, kMessagesPerRound);
}

void Device::about_to_sleep() {
  for (Unexpected* const heap : impl_->parts.heaps) heap->relieve_sleeper();
}

Communicator* Device::take_unreferenced() {
  auto& list = impl_->parts.unreferenced;
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
  const auto under_way = [&](const Request& request) {
    return !request.complete && request.communicator == &communicator;
  };
  const DeviceParts& parts = impl_->parts;
  return !parts.sends.any_in_use(under_way) && !parts.receives.any_in_use(under_way) &&
         !any_task(parts.tasks, [&](const Communicator* of) { return of == &communicator; });
}

namespace {

bool is_of(std::optional<std::uint32_t> session, const Communicator* communicator) {
  return !session || communicator == nullptr || communicator->group->session == *session;
}

// Not complete, and of the session, if one is named.
bool under_way_in(std::optional<std::uint32_t> session, const Request& request) {
  return !request.complete && is_of(session, request.communicator);
}

bool idle(const DeviceParts& parts) {
  return parts.notices.in_use() == 0 && parts.kernel.idle();
}

}  // namespace

bool Device::quiet(std::optional<std::uint32_t> session) const {
  const DeviceParts& parts = impl_->parts;
  if (!session) return parts.under_way == 0 && idle(parts);
  const auto under_way = [session](const Request& request) { return under_way_in(session, request); };
  return !parts.sends.any_in_use(under_way) && !parts.receives.any_in_use(under_way) &&
         !any_task(parts.tasks, [session](const Communicator* of) { return is_of(session, of); });
}

bool Device::quiet_but_unmatched(std::uint32_t session) const {
  const DeviceParts& parts = impl_->parts;
  return !parts.sends.any_in_use([&](const SendRequest& send) {
    return send.peer != parts.kernel.me().rank && under_way_in(session, send);
  }) && !parts.receives.any_in_use([&](const ReceiveRequest& receive) {
    return !is_unmatched(receive) && under_way_in(session, receive);
  }) && !any_task(parts.tasks, [session](const Communicator* of) { return is_of(session, of); });
}

void Device::give_up_sends(std::uint32_t session, Receivers receivers) {
  DeviceParts& parts = impl_->parts;
  std::vector<SendRequest*> unmatched;
  parts.sends.for_each_in_use([&](SendRequest& send) {
    const bool may_be_received = receivers == Receivers::remain && send.peer != parts.kernel.me().rank;
    if (!may_be_received && under_way_in(session, send)) unmatched.push_back(&send);
  });
  // What its wire only has to take goes its way.
  for (SendRequest* const send : unmatched) ask_back(parts, *send, AskBack::nobody_receives);
}

bool Device::sends_over(std::optional<std::uint32_t> session) const {
  const DeviceParts& parts = impl_->parts;
  if (!session && !idle(parts)) return false;
  return !parts.sends.any_in_use([session](const SendRequest& send) { return under_way_in(session, send); });
}

void Device::give_up_receives(std::uint32_t session) {
  std::vector<Request*> unmatched;
  impl_->parts.receives.for_each_in_use([&](ReceiveRequest& receive) {
    if (under_way_in(session, receive)) unmatched.push_back(&receive);
  });
  // Nothing for those that a message has found.
  for (Request* const request : unmatched) cancel(*request);
}

void Device::forget_messages(ContextId context) {
  mpi_adi::forget_messages(impl_->parts, context);
}

void Device::give_memory_back() {
  for (Unexpected* const heap : impl_->parts.heaps) heap->give_memory_back();
}

const ProtocolCounts& Device::counts() const {
  ProtocolCounts& counts = impl_->parts.counts;
  // Of messages to the receive portal only ready ones can find no entry. Those of windows have bits of their own.
  counts.ready_dropped = impl_->parts.kernel.unmatched_puts(kReceivePortal);
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
