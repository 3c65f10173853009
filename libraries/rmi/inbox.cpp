#include "libraries/rmi/inbox.hpp"

#include <algorithm>
#include <span>
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

Inbox::Inbox(host::Rank& rank, Heap& heap, Wire& wire, Bodies& bodies, Objects& objects, Calls& calls, Outbox& outbox,
             Side side)
    : rank_(rank),
      heap_(heap),
      wire_(wire),
      bodies_(bodies),
      objects_(objects),
      calls_(calls),
      outbox_(outbox),
      side_(side),
      me_(rank.rank()),
      queues_(rank.size() + 1),
      owed_(rank.size()),
      executed_of_(rank.size()) {}

Inbox::~Inbox() = default;

void Inbox::take() {
  while (portals::ArrivedMessage* const message = heap_.take()) {
    const portals::Header& header = message->header;
    auto arrived = std::make_unique<Arrived>();
    arrived->source = arrived->queue = header.source.rank;
    arrived->number = static_cast<std::uint32_t>(header.match_bits);
    arrived->parity = (header.match_bits >> 32 & 1) != 0;
    arrived->count = count_of(header);
    if (kind_of(header.match_bits) == MessageKind::long_request) {
      arrived->fetch = &bodies_.fetch(arrived->source, arrived->number, length_of(header));
      heap_.release(*message);
    } else {
      arrived->message = message;
      arrived->next = message->body.base;
      arrived->end = arrived->next + message->body.bytes;
    }
    add(std::move(arrived));
  }
}

void Inbox::add_own(Filled filled, Side side) {
  auto arrived = std::make_unique<Arrived>();
  arrived->source = me_;
  arrived->queue = side == Side::thread ? static_cast<std::uint32_t>(queues_.size() - 1) : me_;
  arrived->number = filled.number;
  arrived->parity = filled.parity;
  arrived->count = filled.count;
  arrived->next = filled.memory.get();
  arrived->end = arrived->next + filled.bytes;
  arrived->owned = std::move(filled);
  add(std::move(arrived));
}

void Inbox::add(std::unique_ptr<Arrived> arrived) {
  queues_[arrived->queue].push_back(std::move(arrived));
  ++queued_;
}

Inbox::Arrived* Inbox::next_of(std::uint32_t queue) {
  if (queues_[queue].empty()) return nullptr;
  Arrived& first = *queues_[queue].front();
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
    // execute_requests() drops it.
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
  if (++arrived.running == 1) running_.push_back(&arrived);
  if (inside)
    host::run_program(rank_, [&] { execute_requests(arrived, step); });
  else
    execute_requests(arrived, step);
  if (--arrived.running == 0) std::erase(running_, &arrived);
  executed_[arrived.parity ? 1 : 0] += step.executed;
  executed_of_[source] += step.executed;
  // A nested execution may have come to the buffer's end first.
  if (arrived.next == arrived.end && arrived.queued) {
    arrived.queued = false;
    static_cast<void>(queues_[arrived.queue].front().release());
    queues_[arrived.queue].pop_front();
    --queued_;
  }
  if (inside && rank_.recording())
    rank_.record(
        {.number = kExecutes, .peer = source, .a = step.executed, .b = arrived.number, .of_arrived = arrived.message});
  if (!arrived.queued && arrived.running == 0) finish(arrived);
  if (step.wants_reply && source == me_) calls_.arrive(step.call, me_, step.reply.bytes());
  if (!inside) return;
  if (step.wants_reply && source != me_) send_reply(source, step);
  if (owed_[source] != 0) send_credits(source);
}

void Inbox::execute_requests(Arrived& arrived, Step& step) {
  ++depth_;
  while (arrived.next != arrived.end && execute_next(arrived, step)) {
  }
  --depth_;
}

bool Inbox::execute_next(Arrived& arrived, Step& step) {
  std::uint32_t object = 0;
  bool atomic = false;
  Failure failure;
  try {
    const RequestView request = RequestView::parse({arrived.next, arrived.end});
    object = request.object();
    atomic = request.atomic();
    if (atomic && !objects_.try_enter(object, side_)) return false;
    // Before the method runs: a nested execution continues behind it.
    arrived.next += request.bytes();
    if (arrived.count != 0) --arrived.count;
    const bool wants_reply = request.wants_reply();
    const auto find = [this](std::uint32_t id) { return objects_.find(id); };
    const bool returned = rmi::execute(request, find, wants_reply ? &step.reply : nullptr, failure);
    if (atomic) objects_.leave(object);
    ++step.executed;
    if (wants_reply) {
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
    drop_rest(arrived, step, exception.what());
    return false;
  }
}

void Inbox::drop_rest(Arrived& arrived, Step& step, const char* why) {
  // The fence counts them, because their sender did.
  const std::uint32_t dropped = std::exchange(arrived.count, 0);
  step.executed += dropped;
  arrived.next = arrived.end;
  report_failure(arrived.source, {std::to_string(dropped) + " requests of a damaged buffer", why});
}

void Inbox::finish(Arrived& arrived) {
  const std::unique_ptr<Arrived> owner(&arrived);
  if (arrived.message != nullptr) heap_.release(*arrived.message);
  outbox_.recycle(arrived.owned);
  if (arrived.source != me_ && !arrived.credited) ++owed_[arrived.source];
}

void Inbox::send_early_credits() {
  for (Arrived* const arrived : running_) {
    if (arrived->next != arrived->end || arrived->credited || arrived->source == me_) continue;
    arrived->credited = true;
    ++owed_[arrived->source];
    send_credits(arrived->source);
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
  set_count(header, std::exchange(owed_[source], 0));
  wire_.send(header, step.reply.bytes().data(), step.reply.bytes().size());
}

void Inbox::send_credits(std::uint32_t source) {
  portals::Header header = Wire::header(source, kCreditPortal, match_bits(MessageKind::credit, 0));
  set_count(header, std::exchange(owed_[source], 0));
  wire_.send(header);
}

}  // namespace margay::rmi::core
