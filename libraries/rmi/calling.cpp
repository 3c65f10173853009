// Writers and awaited calls of core.hpp and node.hpp.
#include <utility>

#include "libraries/rmi/node.hpp"
#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi::core {
namespace {

// Sends a destination's buffer. Outside of a method, it waits while the destination is slower, and polls.
void send_buffer(Node& node, std::uint32_t destination, Flush why) {
  const host::Call call(node.rank, "async_rmi");
  node.outbox.flush(destination, why);
  // A method neither waits here nor runs other methods.
  if (node.inbox.depth() != 0) return;
  node.wait_for_credits(call.name(), destination);
  static_cast<void>(node.rank.progress());
  node.take();
  while (node.inbox.run()) {
  }
  node.outbox.send_owed();
}

}  // namespace

std::span<std::byte> Writer::refill(std::size_t least) {
  Node& node = this_node("async_rmi");
  Outbox& outbox = node.outbox;
  const std::uint32_t destination = outbox.number_of(*this);
  if (node.inbox.depth() != 0 && outbox.queued_bytes() + least > node.settings.queue_bytes) {
    fail("async_rmi in a method: " + std::to_string(outbox.queued_bytes()) +
         " bytes of requests queue already, because their receivers have not executed earlier ones, and a method must "
         "not wait; let methods send less, or set MARGAY_RMI_QUEUE to more bytes");
  }
  // While a full buffer waits, methods may write into the next one.
  while (outbox.room(destination).size() < least) {
    if (outbox.filling(destination) == 0)
      outbox.open(destination, least);
    else if (destination == node.here.rank)
      node.inbox.add_own(outbox.close(destination));
    else
      send_buffer(node, destination, Flush::full);
  }
  return outbox.room(destination);
}

void Writer::full() {
  Node& node = this_node("async_rmi");
  const std::uint32_t destination = node.outbox.number_of(*this);
  if (destination != node.here.rank) return send_buffer(node, destination, Flush::factor);
  // A request to the own node: at once, unless that would interrupt a method.
  if (node.inbox.depth() == 0)
    node.run_own_requests();
  else
    node.outbox.continue_filling(destination);
}

void poll(const char* name) {
  Node& node = this_node(name);
  node.here.calls_to_poll = node.here.poll_rate;
  const host::Call call(node.rank, name);
  node.poll(Flush::poll);
}

std::uint64_t begin_call(const char* name, std::uint32_t destination, std::uint32_t object) {
  Node& node = this_node(name);
  // Detected here, because the whole cycle is on this node. The launcher detects longer ones, as deadlocks.
  if (destination == node.here.rank && node.objects.busy(object)) {
    fail(std::string(name) +
         ": a method waits for another method of its own object, which runs after it; call that method directly");
  }
  if (node.calls.full()) {
    const host::Call call(node.rank, name);
    node.serve_until(name, portals::kAnyRank, Flush::sync, [&] { return !node.calls.full(); });
  }
  return node.calls.begin(destination);
}

namespace {

// finish_call() inside.
void send_request(Node& node, std::uint64_t number) {
  const std::uint32_t destination = node.calls.node(number);
  // commit() has executed the own request; inside a method the wait takes it.
  if (destination == node.here.rank) return;
  ++*node.counters[kSyncs];
  if (node.rank.recording()) node.rank.record({.number = kAsks, .peer = destination, .detail = number});
  if (node.outbox.filling(destination) != 0) node.outbox.flush(destination, Flush::sync);
}

}  // namespace

void finish_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  const host::Call call(node.rank, name);
  send_request(node, number);
}

void complete_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (node.calls.done(number)) return;
  const host::Call call(node.rank, name);
  send_request(node, number);
  node.serve_until(name, node.calls.node(number), Flush::sync, [&] { return node.calls.done(number); });
}

bool test_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (node.calls.done(number)) return true;
  const host::Call call(node.rank, name);
  node.poll(Flush::sync);
  return node.calls.done(number);
}

void wait_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (node.calls.done(number)) return;
  const host::Call call(node.rank, name);
  node.serve_until(name, node.calls.node(number), Flush::sync, [&] { return node.calls.done(number); });
}

void await_call(std::uint64_t number, void (*resume)(void*), void* argument) {
  Node& node = this_node("co_await");
  const bool parity = node.outbox.parity();
  node.calls.await(number, {resume, argument, parity});
  // Counted as begun at once: a fence between here and the result must wait for the coroutine.
  ++node.suspended[parity ? 1 : 0];
}

std::span<const std::byte> reply_of(std::uint64_t call) {
  return this_node("sync_rmi").calls.reply(call);
}

void end_call(std::uint64_t call) noexcept {
  // A handle may end after stop().
  if (here == nullptr) return;
  Node& node = this_node("sync_rmi");
  // A coroutine that is destroyed while it waits is over, for fences.
  if (const Calls::Resumption dropped = node.calls.give_up(call); dropped.resume != nullptr)
    ++node.resumed[dropped.parity ? 1 : 0];
  node.calls.end(call);
}

void cancel_call(std::uint64_t call) noexcept {
  this_node("sync_rmi").calls.cancel(call);
}

void report_failure(std::uint32_t caller, Failure failure) {
  Node& node = this_node("async_rmi");
  const std::uint32_t me = node.here.rank;
  if (caller != me) {
    try {
      post<Service>(node.here.writers[caller], Envelope{.object = kServiceObject, .atomic = false},
                    method<&Service::keep_failure>, me, failure);
      return;
    } catch (const error&) {
      // The queue is full: better reported here than lost.
    }
  }
  node.failures.emplace_back(me, std::move(failure));
}

}  // namespace margay::rmi::core
