#include "libraries/rmi/node.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace margay::rmi::core {

constinit thread_local Here* here = nullptr;

namespace {

// The bytes of a message.
std::span<const std::byte> body_of(const portals::ArrivedMessage& message) {
  return {message.body.base, message.body.bytes};
}

}  // namespace

void Service::keep_failure(std::uint32_t node, const Failure& failure) {
  const Locked locked(node_);
  node_.failures.emplace_back(node, failure);
}

void Service::take_part(std::uint32_t node, std::uint64_t collect, const std::vector<std::uint64_t>& words,
                        std::uint64_t bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(words.data());
  if (bytes > words.size() * sizeof(std::uint64_t)) fail("damaged request: the part of a collection is cut off");
  const Locked locked(node_);
  node_.parts[{collect, node}].assign(begin, begin + bytes);
}

Node::Node(host::Rank& joined, const Settings& read)
    : rank(joined),
      settings(read),
      program_buffers(rank.size()),
      thread_buffers(rank.size()),
      objects(read.scheduler != Scheduler::explicit_polling),
      // Room for what the bounds allow: each node's buffers and those of methods that wait, replies of all calls, two
      // waves of each node and its identity, and the credits of both buffers.
      requests(rank, kRequestPortal,
               std::size_t{kCredits} * (kBufferMost + kMessageBytes) * rank.size() + kNestedBytes),
      replies(rank, kReplyPortal, std::size_t{kCalls} * (kReplyMost + kMessageBytes)),
      control(rank, kControlPortal, std::size_t{3} * (sizeof(ProgramIdentity) + kMessageBytes) * rank.size()),
      credits(rank, kCreditPortal, std::size_t{kCredits} * kMessageBytes * rank.size()),
      // One node's requests to itself are executed one by one, unless the communication thread executes them.
      outbox(rank, wire, bodies, settings, threaded() ? kFactor : 1),
      inbox(rank, requests, wire, bodies, objects, calls, outbox, threaded() ? Side::thread : Side::program) {
  here.node = this;
  here.writers = program_buffers.writers();
  here.nodes = rank.size();
  here.rank = rank.rank();
  here.calls_to_poll = here.poll_rate = kPollRate;
  thread_here = here;
  thread_here.writers = thread_buffers.writers();
  static_cast<void>(objects.add(&service, typeid(Service)));
}

Node::~Node() = default;

void Node::open(const char* call, const ProgramIdentity& identity) {
  for (Heap* const heap : {&requests, &replies, &control, &credits}) {
    if (const portals::Status status = heap->attach(); !status.ok()) fail(status.sentence());
  }
  if (const portals::Status status = bodies.attach(); !status.ok()) fail(status.sentence());
  // No node sends before all portals are attached.
  if (const portals::Status status = rank.barrier(call); !status.ok()) fail(status.sentence());
  compare(call, identity);
}

void Node::compare(const char* call, const ProgramIdentity& identity) {
  static_assert(std::is_trivially_copyable_v<ProgramIdentity>);
  if (here.rank != 0) {
    wire.send(Wire::header(0, kControlPortal, match_bits(MessageKind::identity, 0)), &identity, sizeof identity);
    serve_until(call, 0, Flush::wait, [this] { return has_verdict_; });
  } else {
    serve_until(call, portals::kAnyRank, Flush::wait, [this] { return identities_.size() == here.nodes - 1; });
    for (const auto& [node, other] : identities_) {
      if (verdict_.empty()) verdict_ = difference(identity, 0, other, static_cast<int>(node));
    }
    for (std::uint32_t node = 1; node < here.nodes; ++node) {
      wire.send(Wire::header(node, kControlPortal, match_bits(MessageKind::verdict, 0)), verdict_.data(),
                verdict_.size());
    }
    identities_.clear();
  }
  if (!verdict_.empty()) fail(verdict_);
}

void Node::take() {
  wire.sweep();
  bodies.sweep();
  calls.sweep();
  while (portals::ArrivedMessage* const message = credits.take()) {
    outbox.add_credits(message->header.source.rank, count_of(message->header));
    credits.release(*message);
  }
  while (portals::ArrivedMessage* const message = replies.take()) {
    const portals::Header& header = message->header;
    const std::uint64_t call = header.match_bits & kBelowKind;
    if (kind_of(header.match_bits) == MessageKind::long_reply) {
      calls.arrive_long(call, header.source.rank, count_of(header), length_of(header));
    } else {
      outbox.add_credits(header.source.rank, count_of(header));
      calls.arrive(call, header.source.rank, body_of(*message));
    }
    replies.release(*message);
  }
  inbox.take();
  while (portals::ArrivedMessage* const message = control.take()) {
    const MessageKind kind = kind_of(message->header.match_bits);
    const std::span<const std::byte> bytes = body_of(*message);
    if (kind == MessageKind::wave) {
      // A message for a group that was freed has no receiver.
      Group* const group = groups.find_if_any(Fence::group_of(bytes));
      if (group != nullptr) group->fence.take(message->header.source.rank, bytes);
    } else if (kind == MessageKind::verdict) {
      has_verdict_ = true;
      verdict_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    } else if (kind == MessageKind::identity && bytes.size() == sizeof(ProgramIdentity)) {
      ProgramIdentity identity;
      std::memcpy(&identity, bytes.data(), sizeof identity);
      identities_.emplace_back(message->header.source.rank, identity);
    }
    control.release(*message);
  }
  // The program may have taken what the communication thread has to execute.
  if (sleep.asleep() && runnable()) sleep.wake();
}

void Node::publish() {
  // The counters continue those of an earlier start() in this process.
  const std::uint64_t sent = outbox.sent(false) + outbox.sent(true), executed = inbox.executed();
  rank.counter(kSent) += sent - std::exchange(published_sent_, sent);
  rank.counter(kExecuted) += executed - std::exchange(published_executed_, executed);
}

void Node::flush_all(Flush why) {
  buffers().for_each_filling([&](std::uint32_t node) { flush(node, why); });
}

void Node::flush(std::uint32_t node, Flush why) {
  if (node != here.rank) return outbox.flush(buffers(), node, why);
  inbox.add_own(outbox.close(buffers(), node), side());
  sleep.wake();
}

bool Node::run() {
  // The program may have removed an object since.
  if (threaded()) thread_here.address = nullptr;
  return inbox.run();
}

bool Node::has_arrivals() {
  // Of replies, only those that resume coroutines; waves and other replies are the program's.
  const bool suspends = suspended[0] + suspended[1] != resumed[0] + resumed[1];
  return requests.any() || credits.any() || (suspends && replies.any()) || bodies.any_fetched() || runnable();
}

void Node::poll(Flush why) {
  flush_all(why);
  static_cast<void>(rank.progress());
  take();
  // In a method, methods run only while it waits.
  while (runs_methods() && inbox.depth() == 0 && (run() || resume())) flush_all(why);
  publish();
}

bool Node::resume() {
  if (inbox.depth() != 0 || !calls.resumable()) return false;
  const Calls::Resumption next = calls.take_resumption();
  inbox.begin_method();
  host::run_program(rank, [&] { next.resume(next.argument); });
  inbox.end_method();
  ++resumed[next.parity ? 1 : 0];
  return true;
}

void Node::wait_for_credits(const char* call, std::uint32_t node) {
  // Buffers of the own node queue only for its communication thread.
  const auto queued = [&] { return node == here.rank ? inbox.own_queued() : outbox.queued(node); };
  if (queued() <= kAhead) return;
  serve_until(call, node, Flush::wait, [&] { return queued() <= kAhead; });
}

void Node::run_own_requests() {
  const std::uint32_t me = here.rank;
  do {
    if (program_buffers.filling(me) != 0) inbox.add_own(outbox.close(program_buffers, me), Side::program);
  } while (inbox.run_own());
}

void Node::refuse_in_method(const char* call) const {
  if (in_method()) {
    fail(std::string(call) +
         " is called inside a method, which must not wait for all nodes; let the method store what is to be done, and "
         "call it when the method has returned");
  }
  if (held != 0) {
    fail(std::string(call) +
         " is called while an rmi_monitor is held, so that requests for its object are never executed; end the "
         "rmi_monitor first");
  }
}

void Node::barrier(const char* call) {
  rank.begin_barrier();
  serve_until(call, portals::kAnyRank, Flush::wait, [this] { return !rank.in_barrier(); });
}

void Node::drain(const char* call) {
  serve_until(call, portals::kAnyRank, Flush::wait,
              [this] { return outbox.idle() && wire.idle() && bodies.idle() && calls.idle(); });
}

}  // namespace margay::rmi::core
