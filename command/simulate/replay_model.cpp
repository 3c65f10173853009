#include "command/simulate/replay_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace margay::command {

namespace {

using portals::Status;
using virtual_machine::kInMemory;
using virtual_machine::kSegmentBytes;
using virtual_machine::Machine;
using virtual_machine::NetworkModel;
using virtual_machine::Transfer;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// A message as far as it has been sent.
struct Flight {
  std::uint64_t head_ns = kNever;  // arrival of the header
  std::uint64_t body_ns = kNever;  // arrival of the last byte
  // Processor time of the receiver.
  std::uint64_t receive_ns = 0;
  // The lane that is blocked until it is sent.
  std::uint32_t awaited_by = kNone;
};

// A rank or a task.
struct Lane {
  const std::vector<ReplayAction>* actions = nullptr;
  // The index of its next action.
  std::size_t next = 0;
  // The lane that is blocked until this one ends.
  std::uint32_t ended_for = kNone;
  ReplayedRank times;

  [[nodiscard]] bool has_ended() const { return next == actions->size(); }
};

class Replayer {
 public:
  Replayer(const ReplayPlan& plan, double cpu_scale, NetworkModel& model, ReplayResult& out)
      : plan_(plan), cpu_scale_(cpu_scale), model_(model), out_(out) {}

  Status run() {
    const std::size_t ranks = plan_.ranks.size();
    out_ = ReplayResult();
    out_.event_ns.resize(plan_.events);
    flights_.resize(plan_.messages.size());
    for (const std::vector<ReplayAction>& actions : plan_.ranks) lanes_.push_back({.actions = &actions});
    for (const std::vector<ReplayAction>& actions : plan_.tasks) lanes_.push_back({.actions = &actions});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ready_.emplace(0, rank);
    while (!ready_.empty() || release_task()) {
      const std::uint32_t number = ready_.top().second;
      ready_.pop();
      run_lane(number);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (!lanes_[rank].has_ended())
        return Status::error(fmt::format("rank {} waits for a message of a rank that waits for it in turn", rank));
      out_.ranks.push_back(lanes_[rank].times);
    }
    return {};
  }

 private:
  // Executes the lane's actions until it is blocked, has ended, or wants to send later than another lane may.
  void run_lane(std::uint32_t number) {
    Lane& lane = lanes_[number];
    for (; !lane.has_ended(); ++lane.next)
      if (!act(number, (*lane.actions)[lane.next])) return;
    if (lane.ended_for != kNone) make_ready(lane.ended_for);
  }

  // When no lane can act: lets a task for which a rank waits go on without its next message. False: there is none.
  bool release_task() {
    for (std::uint32_t number = static_cast<std::uint32_t>(plan_.ranks.size()); number < lanes_.size(); ++number) {
      Lane& task = lanes_[number];
      if (task.ended_for == kNone || task.has_ended()) continue;
      flights_[(*task.actions)[task.next++].value].awaited_by = kNone;
      make_ready(number);
      return true;
    }
    return false;
  }

  void make_ready(std::uint32_t number) { ready_.emplace(lanes_[number].times.end_ns, number); }

  // False: the lane has to wait, and is to act again.
  bool act(std::uint32_t number, const ReplayAction& action) {
    ReplayedRank& times = lanes_[number].times;
    switch (action.step) {
      case ReplayStep::compute: {
        const auto ns = static_cast<std::uint64_t>(static_cast<double>(action.value) * cpu_scale_);
        times.compute_ns += ns;
        times.end_ns += ns;
        return true;
      }
      case ReplayStep::event:
        out_.event_ns[action.value] = times.end_ns;
        return true;
      case ReplayStep::send:
        if (!ready_.empty() && ready_.top().first < times.end_ns) {
          make_ready(number);
          return false;
        }
        send(times, action.value);
        return true;
      case ReplayStep::await:
        if (flights_[action.value].head_ns == kNever) {
          flights_[action.value].awaited_by = number;
          return false;
        }
        await(times, flights_[action.value]);
        return true;
      case ReplayStep::begin: {
        const auto task = static_cast<std::uint32_t>(plan_.ranks.size() + action.value);
        lanes_[task].times.end_ns = times.end_ns;
        make_ready(task);
        return true;
      }
      case ReplayStep::end: {
        Lane& task = lanes_[plan_.ranks.size() + action.value];
        if (!task.has_ended()) {
          task.ended_for = number;
          return false;
        }
        catch_up(times, task.times);
        return true;
      }
    }
    return true;
  }

  void send(ReplayedRank& sender, std::uint64_t number) {
    const ReplayMessage& message = plan_.messages[number];
    Flight& flight = flights_[number];
    const bool is_whole = message.bytes <= kSegmentBytes;
    const Transfer head = carry(sender, message, is_whole ? message.bytes : 0, true);
    flight.head_ns = flight.body_ns = head.arrival_ns;
    flight.receive_ns = head.receive_overhead_ns;
    if (head.network != kInMemory) flight.receive_ns += model_.machine().networks[head.network].poll_ns;
    for (std::uint64_t left = is_whole ? 0 : message.bytes; left > 0;) {
      const std::uint64_t part = std::min(left, kSegmentBytes);
      flight.body_ns = carry(sender, message, part, false).arrival_ns;
      left -= part;
    }
    ++out_.messages;
    out_.bytes += message.bytes;
    if (flight.awaited_by != kNone) make_ready(flight.awaited_by);
  }

  // A processor is busy with a message once, not with each of its segments; but in memory it copies each one.
  Transfer carry(ReplayedRank& sender, const ReplayMessage& message, std::uint64_t bytes, bool begins) {
    const Transfer transfer = model_.transfer(message.from, message.to, bytes, sender.end_ns);
    std::uint64_t busy_ns = transfer.sender_free_ns - sender.end_ns;
    if (!begins) busy_ns = transfer.network == kInMemory ? busy_ns - model_.machine().memory_overhead_ns : 0;
    sender.send_ns += busy_ns;
    sender.end_ns += busy_ns;
    return transfer;
  }

  // A coprocessor receives while the rank computes.
  void await(ReplayedRank& receiver, const Flight& flight) const {
    const std::uint64_t before_ns = receiver.end_ns;
    const bool receives_itself = !model_.machine().coprocessor;
    const std::uint64_t begin_ns = receives_itself ? std::max(before_ns, flight.head_ns) : flight.head_ns;
    receiver.end_ns = std::max({before_ns, begin_ns + flight.receive_ns, flight.body_ns});
    const std::uint64_t spent_ns =
        receives_itself ? flight.receive_ns : std::min(flight.receive_ns, receiver.end_ns - before_ns);
    receiver.receive_ns += spent_ns;
    receiver.wait_ns += receiver.end_ns - before_ns - spent_ns;
  }

  // The rank waits for its task, whose work in that time is the rank's.
  static void catch_up(ReplayedRank& rank, const ReplayedRank& task) {
    std::uint64_t left_ns = task.end_ns - std::min(rank.end_ns, task.end_ns);
    rank.end_ns += left_ns;
    for (const auto part : {&ReplayedRank::send_ns, &ReplayedRank::receive_ns}) {
      const std::uint64_t spent_ns = std::min(task.*part, left_ns);
      rank.*part += spent_ns;
      left_ns -= spent_ns;
    }
    rank.wait_ns += left_ns;
  }

  const ReplayPlan& plan_;
  const double cpu_scale_;
  NetworkModel& model_;
  ReplayResult& out_;
  // By message.
  std::vector<Flight> flights_;
  // Ranks, then tasks.
  std::vector<Lane> lanes_;
  // Lanes that can act, by their times.
  using Ready = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

std::uint64_t ReplayResult::elapsed_ns() const {
  std::uint64_t last_ns = 0;
  for (const ReplayedRank& rank : ranks) last_ns = std::max(last_ns, rank.end_ns);
  return last_ns;
}

Status replay(const ReplayPlan& plan, double cpu_scale, NetworkModel& model, ReplayResult& out) {
  return Replayer(plan, cpu_scale, model, out).run();
}

}  // namespace margay::command
