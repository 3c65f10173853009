#include "libraries/rmi/inbox.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "margay/rmi/execute.hpp"

namespace margay::rmi::core {
namespace {

// The room of one reply: on the stack, or for a long one in memory that the wire may keep.
class Reply final : public ReplySink {
 public:
  [[nodiscard]] std::span<std::byte> reserve(std::size_t least) override {
    if (least <= kReplyMost) return short_;
    long_ = allocate(least);
    return {long_.get(), least};
  }
  void commit(std::size_t used) override { bytes_ = used; }
  // A reply that begins anew, because the first attempt threw, may be short again.
  [[nodiscard]] bool is_long() const { return bytes_ > kReplyMost; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {is_long() ? long_.get() : short_.data(), bytes_}; }
  [[nodiscard]] Memory take_long() { return std::move(long_); }

 private:
  // Not initialised: most requests want no reply.
  alignas(64) std::array<std::byte, kReplyMost> short_;
  std::size_t bytes_ = 0;
  Memory long_;
};

}  // namespace

// One step of execution.
struct Inbox::Step {
  // Written if `wants_reply`: the last request's.
  Reply reply;
  bool wants_reply = false;
  std::uint64_t call = 0;
  std::uint32_t executed = 0;
};

Inbox::Inbox(host::Rank& rank, Mailbox& mailbox, Wire& wire, Bodies& bodies, Objects& objects, Calls& calls,
             Outbox& outbox, Side side, std::uint32_t broadcast)
    : rank_(rank),
      mailbox_(mailbox),
      wire_(wire),
      bodies_(bodies),
      objects_(objects),
      calls_(calls),
      outbox_(outbox),
      side_(side),
      me_(rank.rank()),
      broadcast_(broadcast),
      queues_(rank.size() + 1),
      executed_of_(rank.size()) {}

Inbox::~Inbox() = default;

void Inbox::take() {
  Mailbox::Message message;
  while (mailbox_.take(message)) {
    const portals::Header& header = *message.header;
    const MessageKind kind = kind_of(header.match_bits);
    if (kind != MessageKind::buffer && kind != MessageKind::long_request)
      refuse_message(rank_, header.source.rank, "buffer of requests", "its kind is unknown");
    auto arrived = obtain(header.source.rank, static_cast<std::uint32_t>(header.match_bits),
                          (header.match_bits >> 32 & 1) != 0, count_of(header) & kRequestCount);
    const bool is_long = kind == MessageKind::long_request;
    // No node sends an empty buffer, so this is damage.
    if (arrived->count == 0 || (is_long ? length_of(header) : message.body.size()) == 0)
      refuse(*arrived, "it has no requests");
    // Credits before requests: a queued buffer of this node leaves although methods may run for long.
    if (!outbox_.add_credits(header.source.rank, count_of(header) >> kCreditShift))
      refuse(*arrived, "it returns more credits than the node has spent");
    if (!is_due(arrived->source, arrived->number)) refuse(*arrived, "no buffer of this number is due");
    if (is_long) {
      // The notice's place is free at once; the buffer's order is kept by its number.
      arrived->fetch = &bodies_.fetch(arrived->source, static_cast<std::uint32_t>(header.offset), length_of(header));
      mailbox_.release(message);
    } else {
      arrived->message = message;
      arrived->next = message.body.data();
      arrived->end = arrived->next + message.body.size();
    }
    add(std::move(arrived));
  }
}

void Inbox::add_own(Filled filled, Side side) {
  const std::uint32_t queue = side == Side::thread ? static_cast<std::uint32_t>(queues_.size() - 1) : me_;
  // Buffers of the two threads have their numbers in common; each queue counts its own.
  const std::uint32_t number = queues_[queue].next_number + static_cast<std::uint32_t>(queues_[queue].buffers.size());
  auto arrived = obtain(me_, number, filled.parity, filled.count);
  arrived->queue = queue;
  arrived->next = filled.memory.get();
  arrived->end = arrived->next + filled.bytes;
  own_bytes_ += filled.capacity;
  arrived->owned = std::move(filled);
  add(std::move(arrived));
}

std::unique_ptr<Inbox::Arrived> Inbox::obtain(std::uint32_t source, std::uint32_t number, bool parity,
                                              std::uint32_t count) {
  std::unique_ptr<Arrived> arrived;
  if (spare_.empty()) {
    arrived = std::make_unique<Arrived>();
  } else {
    arrived = std::move(spare_.back());
    spare_.pop_back();
  }
  arrived->source = arrived->queue = source;
  arrived->number = number;
  arrived->parity = parity;
  arrived->count = count;
  return arrived;
}

void Inbox::add(std::unique_ptr<Arrived> arrived) {
  Queue& queue = queues_[arrived->queue];
  // The distance, because numbers wrap.
  const auto distance = [&queue](std::uint32_t number) { return number - queue.next_number; };
  auto at = queue.buffers.end();
  while (at != queue.buffers.begin() && distance((*(at - 1))->number) > distance(arrived->number)) --at;
  // An insertion at the end of an empty deque would allocate.
  if (at == queue.buffers.end())
    queue.buffers.push_back(std::move(arrived));
  else
    queue.buffers.insert(at, std::move(arrived));
  ++queued_;
}

bool Inbox::is_due(std::uint32_t source, std::uint32_t number) const {
  const Queue& queue = queues_[source];
  return number - queue.next_number < kCredits &&
         std::ranges::none_of(queue.buffers, [number](const auto& each) { return each->number == number; });
}

Inbox::Arrived* Inbox::next_of(std::uint32_t queue) {
  const Queue& next = queues_[queue];
  if (!next.buffers.empty()) leave_queue(*next.buffers.front());
  if (next.buffers.empty() || next.buffers.front()->number != next.next_number) return nullptr;
  Arrived& first = *next.buffers.front();
  if (first.fetch != nullptr) {
    if (!first.fetch->done()) return nullptr;
    const std::size_t bytes = first.fetch->bytes();
    first.owned = {.memory = std::move(first.fetch->memory()), .bytes = bytes, .capacity = bytes};
    bodies_.end(*std::exchange(first.fetch, nullptr));
    first.next = first.owned.memory.get();
    first.end = first.next + bytes;
  }
  return objects_.any_held() && blocked(first) ? nullptr : &first;
}

bool Inbox::blocked(const Arrived& arrived) const {
  try {
    const RequestView next = RequestView::parse({arrived.next, arrived.end});
    return next.atomic() && objects_.holder(next.object()) != Side::none;
  } catch (const error&) {
    // execute_next() refuses it.
    return false;
  }
}

bool Inbox::any_runnable() {
  for (std::uint32_t queue = 0; queue < queues_.size(); ++queue) {
    if (next_of(queue) != nullptr) return true;
  }
  return false;
}

bool Inbox::run() {
  if (queued_ == 0) return false;
  const auto queues = static_cast<std::uint32_t>(queues_.size());
  for (std::uint32_t i = 0; i < queues; ++i) {
    const std::uint32_t queue = turn_;
    turn_ = turn_ + 1 == queues ? 0 : turn_ + 1;
    if (Arrived* const next = next_of(queue)) {
      execute(*next, true);
      return true;
    }
  }
  return false;
}

bool Inbox::run_own() {
  Arrived* const next = next_of(me_);
  if (next == nullptr) return false;
  execute(*next, false);
  return true;
}

void Inbox::execute(Arrived& arrived, bool inside) {
  const std::uint32_t source = arrived.source;
  Step step;
  // A method that waits lets this buffer continue in a nested execution, so a buffer may be in several.
  if (++arrived.running == 1) running_.push_back(&arrived);
  if (inside)
    host::run_program(rank_, [&] { execute_requests(arrived, step); });
  else
    execute_requests(arrived, step);
  if (--arrived.running == 0) std::erase(running_, &arrived);
  // After the methods, whose own requests are sent before the lock is left again (invariant 4).
  executed_[arrived.parity ? 1 : 0] += step.executed;
  executed_of_[source] += step.executed;
  leave_queue(arrived);
  if (inside && rank_.recording())
    rank_.record({.number = kExecutes,
                  .peer = source,
                  .a = step.executed,
                  .b = arrived.number,
                  .of_arrived = arrived.message.in_heap});
  // Not while an outer execution is in it: its method may still read its arguments there.
  if (!arrived.queued && arrived.running == 0) finish(arrived);
  if (step.wants_reply && source == me_) static_cast<void>(calls_.arrive(step.call, me_, step.reply.bytes()));
  if (!inside) return;
  if (step.wants_reply && source != me_) send_reply(source, step);
  // With more buffers of this source, its next one should be on the way while they are executed.
  const bool is_stream = !queues_[source].buffers.empty() || outbox_.owed(source) == kCredits;
  if (is_stream && outbox_.owed(source) != 0) outbox_.send_owed(source);
}

void Inbox::execute_requests(Arrived& arrived, Step& step) {
  ++depth_;
  while (arrived.next != arrived.end && execute_next(arrived, step)) {
  }
  --depth_;
}

void Inbox::leave_queue(Arrived& arrived) {
  // A buffer whose body is being fetched has not begun. A nested execution may have removed the buffer already.
  if (arrived.next != arrived.end || arrived.fetch != nullptr || !arrived.queued) return;
  arrived.queued = false;
  if (arrived.source == me_) own_bytes_ -= arrived.owned.capacity;
  Queue& queue = queues_[arrived.queue];
  // From here on the executions of its requests own it; the last one calls finish().
  static_cast<void>(queue.buffers.front().release());
  queue.buffers.pop_front();
  ++queue.next_number;
  --queued_;
}

bool Inbox::execute_next(Arrived& arrived, Step& step) {
  std::uint32_t object = 0;
  bool atomic = false;
  Failure failure;
  try {
    const RequestView request = RequestView::parse({arrived.next, arrived.end});
    object = request.object();
    atomic = request.atomic();
    if (request.wants_reply() && request.call() > kBelowKind) fail("the number of its call is too large");
    // Not skipped: the source's later requests must not pass this one.
    if (atomic && !objects_.try_enter(object, side_)) return false;
    // Before the method runs: a nested execution continues behind it.
    arrived.next += request.bytes();
    if (arrived.count-- == 0) fail("it has more requests than its header counts");
    if (arrived.next == arrived.end && arrived.count != 0)
      fail(std::to_string(arrived.count) + " requests that its header counts are missing");
    const bool wants_reply = request.wants_reply();
    const bool is_broadcast = request.functor() == broadcast_;
    const auto find = [&](std::uint32_t id) { return objects_.find(is_broadcast ? kServiceObject : id); };
    const bool returned = rmi::execute(request, find, wants_reply ? &step.reply : nullptr, failure);
    if (atomic) objects_.leave(object);
    ++step.executed;
    if (wants_reply) {
      // A reply needs the lock, so this ends the step.
      step.wants_reply = true;
      step.call = request.call();
      return false;
    }
    if (!returned && object != kServiceObject) {
      // A failed report of a failure is not reported again.
      report_failure(arrived.source, std::move(failure));
    }
    return true;
  } catch (const std::exception& exception) {
    refuse(arrived, exception.what());
  }
}

void Inbox::refuse(const Arrived& arrived, const std::string& why) {
  refuse_message(rank_, arrived.source, "buffer of requests (its number " + std::to_string(arrived.number) + ")", why);
}

void Inbox::finish(Arrived& arrived) {
  std::unique_ptr<Arrived> owner(&arrived);
  if (arrived.message.header != nullptr) mailbox_.release(arrived.message);
  outbox_.recycle(arrived.owned);
  if (arrived.source != me_ && !arrived.credited) outbox_.owe(arrived.source);
  arrived = Arrived();
  spare_.push_back(std::move(owner));
}

void Inbox::owe_early_credits() {
  for (Arrived* const arrived : running_) {
    if (arrived->next != arrived->end || arrived->credited || arrived->source == me_) continue;
    // Before the credit leaves, so that the source's next numbers are due (is_due()).
    leave_queue(*arrived);
    arrived->credited = true;
    outbox_.owe(arrived->source);
  }
}

void Inbox::send_reply(std::uint32_t source, Step& step) {
  if (step.reply.is_long()) {
    const std::size_t bytes = step.reply.bytes().size();
    portals::Header header = Wire::header(source, kReplyPortal, match_bits(MessageKind::long_reply, step.call));
    set_count(header, bodies_.offer(step.reply.take_long(), bytes));
    set_length(header, bytes);
    return wire_.send(header);
  }
  portals::Header header = Wire::header(source, kReplyPortal, match_bits(MessageKind::reply, step.call));
  // A credit in the reply saves a message.
  set_count(header, outbox_.take_owed(source));
  wire_.send(header, step.reply.bytes().data(), step.reply.bytes().size());
}

}  // namespace margay::rmi::core
