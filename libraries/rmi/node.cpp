#include "libraries/rmi/node.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "libraries/rmi/tree.hpp"
#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"

namespace margay::rmi::core {

constinit thread_local Here* here = nullptr;

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

void Service::broadcast(std::uint32_t group, std::uint32_t root, std::span<const std::uint64_t> request) {
  static constexpr char kCall[] = "broadcast_rmi";
  if (root >= node_.here.nodes) fail("damaged request: a broadcast of an invalid node");
  const RequestView view = RequestView::parse(std::as_bytes(request));
  // Reports each step's failure by itself, so that the other nodes below still get the request.
  const auto attempt = [root](auto&& step) {
    try {
      step();
    } catch (const std::exception& exception) {
      report_failure(root, make_failure(kCall, exception.what()));
    }
  };
  // Before the execution, so that a long method does not delay the nodes below.
  attempt([&] {
    const GroupView members = view_group(kCall, group);
    const auto at = std::ranges::find(members.nodes, root);
    if (at == members.nodes.end()) fail("damaged request: a broadcast of a node that is not in the group");
    const auto origin = static_cast<std::uint32_t>(at - members.nodes.begin());
    for_each_forward(members.index, origin, static_cast<std::uint32_t>(members.nodes.size()), [&](std::uint32_t below) {
      attempt([&] {
        post<Service>(core::here->writers[members.nodes[below]],
                      Envelope{.object = view.object(), .atomic = view.atomic()}, method<&Service::broadcast>, group,
                      root, request);
      });
    });
  });
  const auto find = [this](std::uint32_t id) { return node_.objects.find(id); };
  Failure failure;
  if (!execute(view, find, nullptr, failure)) report_failure(root, std::move(failure));
}

Node::Node(host::Rank& joined, const Settings& read)
    : rank(joined),
      settings(read),
      program_buffers(rank.size()),
      thread_buffers(rank.size()),
      objects(threaded()),
      // Room for what the bounds allow: each node's buffers and those of methods that wait, replies of all calls, two
      // waves of each node and its identity, and the credits of both buffers.
      requests(rank, kRequestPortal, kShortBuffer,
               std::size_t{kCredits} * (kBufferMost + kMessageBytes) * rank.size() + kNestedBytes),
      replies(rank, kReplyPortal, kShortReply, std::size_t{kCalls} * (kReplyMost + kMessageBytes)),
      control(rank, kControlPortal, Fence::kMessageBytes,
              std::size_t{3} * (sizeof(ProgramIdentity) + kMessageBytes) * rank.size()),
      credits(rank, kCreditPortal, 0, std::size_t{kCredits} * kMessageBytes * rank.size()),
      // One node's requests to itself are executed one by one, unless the communication thread executes them.
      outbox(rank, wire, bodies, settings, threaded() ? kFactor : 1),
      inbox(rank, requests, wire, bodies, objects, calls, outbox, threaded() ? Side::thread : Side::program,
            Registration<Functor<Service, NamedMethod<&Service::broadcast>>>::entry().hash()) {
  for (Here* const each : {&here, &thread_here}) {
    each->nodes = rank.size();
    each->rank = rank.rank();
    each->beside = threaded();
    each->calls_to_poll = each->poll_rate = kPollRate;
    each->node = this;
  }
  here.writers = program_buffers.writers();
  thread_here.writers = thread_buffers.writers();
  // The first object of each node, so that its id is kServiceObject.
  std::uint32_t service_id = 0;
  objects.add(&service, typeid(Service), service_id);
}

Node::~Node() {
  rank.observe_losses(activity_, false);
}

void Node::open(const char* call, const ProgramIdentity& identity) {
  // The loss of a sender may leave messages behind its incomplete one.
  rank.observe_losses(activity_, true);
  for (Mailbox* const mailbox : {&requests, &replies, &control, &credits}) {
    if (const portals::Status status = mailbox->attach(activity_); !status.ok()) fail(status.sentence());
  }
  if (const portals::Status status = bodies.attach(); !status.ok()) fail(status.sentence());
  // No node sends before all portals are attached.
  if (const portals::Status status = rank.barrier(call); !status.ok()) fail(status.sentence());
  thread_fence.poll();
  compare(call, identity);
  // The paper's tree was its best fence of threads (7.2), on 48 processors. Where threads outnumber processors, a tree
  // needs more turns on the processor: 4 threads on 2 take 6 us by the central fence, and 11 us by the tree.
  usual_tree = settings.tree.value_or(thread_fence.possible() ? Tree::central : Tree::exchange);
  check_tree("MARGAY_RMI_FENCE", usual_tree);
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
    has_verdict_ = true;
    identities_.clear();
  }
  if (!verdict_.empty()) fail(verdict_);
}

void Node::take_activity() {
  activity_.arrived = false;
  // Memory and results first, then credits, which let queued buffers leave: all that needs no method is done before new
  // requests are taken.
  wire.sweep();
  bodies.sweep();
  calls.sweep();
  Mailbox::Message message;
  while (credits.take(message)) {
    take_credits(*message.header);
    credits.release(message);
  }
  while (replies.take(message)) {
    take_reply(message);
    replies.release(message);
  }
  inbox.take();
  while (control.take(message)) {
    take_control(message);
    control.release(message);
  }
  // The program may have taken what the communication thread has to execute.
  if (sleep.asleep() && runnable()) sleep.wake();
}

void Node::take_credits(const portals::Header& header) {
  if (!outbox.add_credits(header.source.rank, count_of(header)))
    refuse_message(rank, header.source.rank, "credit", "it is for more buffers than the node has");
}

void Node::take_reply(const Mailbox::Message& message) {
  const portals::Header& header = *message.header;
  const std::uint64_t call = header.match_bits & kBelowKind;
  bool awaited = false;
  if (kind_of(header.match_bits) == MessageKind::long_reply) {
    awaited = calls.arrive_long(call, header.source.rank, count_of(header), length_of(header));
  } else {
    take_credits(header);
    awaited = calls.arrive(call, header.source.rank, message.body);
  }
  if (!awaited) refuse_message(rank, header.source.rank, "result", "no call awaits it");
}

void Node::take_control(const Mailbox::Message& message) {
  const std::uint32_t source = message.header->source.rank;
  const std::span<const std::byte> bytes = message.body;
  const MessageKind kind = kind_of(message.header->match_bits);
  if (kind == MessageKind::wave) {
    Group* const group = groups.find_if_any(Fence::group_of(bytes));
    if (const char* const why = group == nullptr ? "this node is in no such group" : group->fence.take(source, bytes);
        why != nullptr)
      refuse_message(rank, source, "message of a fence", why);
  } else if (kind == MessageKind::verdict && source == 0 && !std::exchange(has_verdict_, true)) {
    verdict_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else if (kind == MessageKind::identity && here.rank == 0 && bytes.size() == sizeof(ProgramIdentity) &&
             !has_verdict_ && !identities_.contains(source)) {
    std::memcpy(&identities_[source], bytes.data(), sizeof(ProgramIdentity));
  } else {
    refuse_message(rank, source, "comparison of programs", "it is not the one that is due");
  }
}

void Node::publish() {
  // The counters continue those of an earlier start() in this process.
  const std::uint64_t sent = outbox.sent(false) + outbox.sent(true), executed = inbox.executed();
  *counters[kSent] += sent - std::exchange(published_sent_, sent);
  *counters[kExecuted] += executed - std::exchange(published_executed_, executed);
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
  // In a method, methods run only while it waits. Flushed after each step, because its methods' requests and replies
  // may be awaited.
  while (runs_methods() && inbox.depth() == 0 && (run() || resume())) flush_all(why);
  outbox.send_owed();
  publish();
}

bool Node::resume() {
  if (inbox.depth() != 0 || !calls.resumable()) return false;
  const Calls::Resumption next = calls.take_resumption();
  // A coroutine is a function that RMI calls, so that waits for all nodes inside it are errors, too.
  inbox.begin_method();
  host::run_program(rank, [&] { next.resume(next.argument); });
  inbox.end_method();
  // After its return: the requests that it has made are counted as sent by then.
  ++resumed[next.parity ? 1 : 0];
  return true;
}

void Node::wait_for_credits(const char* call, std::uint32_t node) {
  // serve_until() would flush all other destinations first. Buffers of the own node queue only for its communication
  // thread.
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

void Node::refuse_held_calls(const char* call) {
  std::vector<std::uint32_t> nodes;
  {
    const Locked locked(*this);
    nodes = calls.held();
  }
  if (nodes.empty()) return;
  fail(std::string(call) + ": " + std::to_string(nodes.size()) +
       (nodes.size() == 1 ? " call of sync_rmi_nonblocking is" : " calls of sync_rmi_nonblocking are") +
       " still held, the first one to node " + std::to_string(nodes.front()) +
       "; wait() for each result, or destroy its rmi_handle, before stop()");
}

void Node::check_tree(const char* call, Tree tree) const {
  if (!is_of_threads(tree) || thread_fence.possible()) return;
  fail(std::string(call) +
       ": the fences central and mcs need all nodes to be threads of one process, as with `margay run -n 1 "
       "--threads N`; choose exchange, flat, binary or hypercube");
}

void Node::barrier(const char* call) {
  // Not rank.barrier(), which serves no requests: a node that is still in a method may need an answer of this one.
  rank.begin_barrier();
  serve_until(call, portals::kAnyRank, Flush::wait, [this] { return !rank.in_barrier(); });
  // The loss of a node ends the barrier, too.
  if (const portals::Status status = rank.end_barrier(call); !status.ok()) fail(status.sentence());
}

void Node::drain(const char* call) {
  serve_until(call, portals::kAnyRank, Flush::wait,
              [this] { return outbox.idle() && wire.idle() && bodies.idle() && calls.idle(); });
}

}  // namespace margay::rmi::core
