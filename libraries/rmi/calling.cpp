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
  node.flush(destination, why);
  // A method, or the program in a monitor, neither waits here nor runs methods.
  if (node.must_not_wait()) return;
  node.wait_for_credits(call.name(), destination);
  static_cast<void>(node.rank.progress());
  node.take();
  while (node.runs_methods() && node.run()) {
  }
  node.outbox.send_owed();
}

// Throws `error` if the further `least` bytes of requests exceed the bound of those that queue.
void refuse_beyond_queue(Node& node, std::size_t least) {
  const Locked locked(node);
  const std::size_t queued = node.outbox.queued_bytes() + node.inbox.own_bytes();
  if (queued + least <= node.settings.queue_bytes) return;
  fail("async_rmi in a method or beside an rmi_monitor: " + std::to_string(queued) +
       " bytes of requests queue already, because their receivers have not executed earlier ones, and a method must "
       "not wait; let methods send less, or set MARGAY_RMI_QUEUE to more bytes");
}

// Whether the result of a call is here.
bool done(Node& node, std::uint64_t number) {
  const Locked locked(node);
  return node.calls.done(number);
}

}  // namespace

std::span<std::byte> Writer::refill(std::size_t least) {
  Node& node = this_node("async_rmi");
  Buffers& buffers = node.buffers();
  const std::uint32_t destination = buffers.number_of(*this);
  if (node.must_not_wait()) refuse_beyond_queue(node, least);
  // While a full buffer waits, methods may write into the next one.
  while (buffers.room(destination).size() < least) {
    if (buffers.filling(destination) == 0) {
      const Locked locked(node);
      node.outbox.open(buffers, destination, least);
    } else if (destination == node.here.rank && !node.threaded()) {
      node.flush(destination, Flush::full);
    } else {
      send_buffer(node, destination, Flush::full);
    }
  }
  return buffers.room(destination);
}

void Writer::full() {
  Node& node = this_node("async_rmi");
  const std::uint32_t destination = node.buffers().number_of(*this);
  if (destination != node.here.rank || node.threaded()) return send_buffer(node, destination, Flush::factor);
  // A request to the own node: at once, unless that would interrupt a method.
  if (node.in_method())
    node.buffers().continue_filling(destination);
  else
    node.run_own_requests();
}

void poll(const char* name) {
  Node& node = this_node(name);
  here->calls_to_poll = here->poll_rate;
  const host::Call call(node.rank, name);
  node.poll(Flush::poll);
}

std::uint64_t begin_call(const char* name, std::uint32_t destination, std::uint32_t object) {
  Node& node = this_node(name);
  // Detected here, because the whole cycle is on this node. The launcher detects longer ones, as deadlocks.
  if (destination == node.here.rank && node.objects.holder(object) == node.side()) {
    fail(std::string(name) +
         (node.in_method() ? ": a method waits for another method of its own object, which runs after it; call that "
                             "method directly"
                           : ": the method would wait for the rmi_monitor of its object, which this thread holds; end "
                             "the rmi_monitor first, or call the method directly"));
  }
  for (;;) {
    {
      const Locked locked(node);
      if (!node.calls.full()) return node.calls.begin(destination);
    }
    const host::Call call(node.rank, name);
    // Only this thread ends calls whose handles it holds, so a wait for one of them would not end.
    const auto is_stuck = [&] {
      return node.calls.full() && !node.threaded() && !node.calls.frees_some(node.inbox.depth() == 0);
    };
    node.serve_until(name, portals::kAnyRank, Flush::sync, [&] { return !node.calls.full() || is_stuck(); });
    if (is_stuck()) {
      fail(std::string(name) + ": " + std::to_string(kCalls) +
           " results are awaited, the most that a node may await at once, by handles and by methods that wait; wait() "
           "for a handle first, or nest fewer calls");
    }
  }
}

namespace {

// finish_call() inside.
void send_request(Node& node, std::uint64_t number) {
  const std::uint32_t destination = node.calls.node(number);
  // commit() has executed the own request; inside a method the wait takes it. A communication thread must get it.
  if (destination == node.here.rank && !node.threaded()) return;
  ++*node.counters[kSyncs];
  if (node.rank.recording()) node.rank.record({.number = kAsks, .peer = destination, .detail = number});
  if (node.buffers().filling(destination) != 0) node.flush(destination, Flush::sync);
}

}  // namespace

void finish_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  const host::Call call(node.rank, name);
  send_request(node, number);
}

void complete_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (done(node, number)) return;
  const host::Call call(node.rank, name);
  send_request(node, number);
  node.serve_until(name, node.calls.node(number), Flush::sync, [&] { return node.calls.done(number); });
}

bool test_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (done(node, number)) return true;
  const host::Call call(node.rank, name);
  node.poll(Flush::sync);
  return node.calls.done(number);
}

void wait_call(const char* name, std::uint64_t number) {
  Node& node = this_node(name);
  if (done(node, number)) return;
  const host::Call call(node.rank, name);
  node.serve_until(name, node.calls.node(number), Flush::sync, [&] { return node.calls.done(number); });
}

void await_call(std::uint64_t number, void (*resume)(void*), void* argument) {
  Node& node = this_node("co_await");
  const Locked locked(node);
  const bool parity = node.outbox.parity();
  // Counted as begun at once: a fence between here and the result must wait for the coroutine. Before await(), after
  // which it may be resumed.
  ++node.suspended[parity ? 1 : 0];
  node.calls.await(number, {resume, argument, parity});
  node.sleep.wake();
}

std::span<const std::byte> reply_of(std::uint64_t call) {
  return this_node("sync_rmi").calls.reply(call);
}

void end_call(std::uint64_t call) noexcept {
  // A handle may end after stop().
  if (here == nullptr) return;
  Node& node = *here->node;
  const Locked locked(node);
  // A coroutine that is destroyed while it waits is over, for fences.
  if (const Calls::Resumption dropped = node.calls.give_up(call); dropped.resume != nullptr)
    ++node.resumed[dropped.parity ? 1 : 0];
  node.calls.end(call);
}

void cancel_call(std::uint64_t call) noexcept {
  Node& node = this_node("sync_rmi");
  const Locked locked(node);
  node.calls.cancel(call);
}

void report_failure(std::uint32_t caller, Failure failure) {
  Node& node = this_node("async_rmi");
  const std::uint32_t me = node.here.rank;
  {
    const Locked locked(node);
    ++*node.counters[kFailures];
  }
  if (caller != me) {
    try {
      post<Service>(here->writers[caller], Envelope{.object = kServiceObject, .atomic = false},
                    method<&Service::keep_failure>, me, failure);
      return;
    } catch (const error&) {
      // The queue is full: better reported here than lost.
    }
  }
  const Locked locked(node);
  node.failures.emplace_back(me, std::move(failure));
}

}  // namespace margay::rmi::core
