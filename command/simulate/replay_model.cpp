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
using virtual_machine::Machine;
using virtual_machine::NetworkModel;
using virtual_machine::Transfer;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

// Longer bodies travel in segments behind their header, as in virtual_machine/world.
constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} * 1024;

// A message as far as it has been sent.
struct Flight {
  std::uint64_t head_ns = kNever;  // arrival of the header
  std::uint64_t body_ns = kNever;  // arrival of the last byte
  // Processor time of the receiver.
  std::uint64_t receive_ns = 0;
  // The rank that is blocked until it is sent.
  std::uint32_t awaited_by = kNoRank;
};

class Replayer {
 public:
  Replayer(const ReplayPlan& plan, double cpu_scale, NetworkModel& model, ReplayResult& out)
      : plan_(plan), cpu_scale_(cpu_scale), model_(model), out_(out) {}

  Status run() {
    out_ = ReplayResult();
    out_.ranks.resize(plan_.ranks.size());
    out_.event_ns.resize(plan_.events);
    flights_.resize(plan_.messages.size());
    next_.resize(plan_.ranks.size());
    for (std::uint32_t rank = 0; rank < plan_.ranks.size(); ++rank) ready_.emplace(0, rank);
    while (!ready_.empty()) {
      const std::uint32_t rank = ready_.top().second;
      ready_.pop();
      run_rank(rank);
    }
    for (std::uint32_t rank = 0; rank < plan_.ranks.size(); ++rank) {
      if (next_[rank] == plan_.ranks[rank].size()) continue;
      const ReplayMessage& message = plan_.messages[plan_.ranks[rank][next_[rank]].value];
      return Status::error(
          fmt::format("rank {} waits for a message of rank {} that waits for it in turn", rank, message.from));
    }
    return {};
  }

 private:
  // Executes the rank's actions until it is blocked, has ended, or wants to send later than another rank may.
  void run_rank(std::uint32_t rank) {
    const std::vector<ReplayAction>& actions = plan_.ranks[rank];
    ReplayedRank& state = out_.ranks[rank];
    for (std::size_t& at = next_[rank]; at < actions.size(); ++at) {
      const auto& [step, value] = actions[at];
      switch (step) {
        case ReplayStep::compute: {
          const auto ns = static_cast<std::uint64_t>(static_cast<double>(value) * cpu_scale_);
          state.compute_ns += ns;
          state.end_ns += ns;
          break;
        }
        case ReplayStep::event:
          out_.event_ns[value] = state.end_ns;
          break;
        case ReplayStep::send:
          if (!ready_.empty() && ready_.top().first < state.end_ns) {
            ready_.emplace(state.end_ns, rank);
            return;
          }
          send(state, value);
          break;
        case ReplayStep::await:
          if (flights_[value].head_ns == kNever) {
            flights_[value].awaited_by = rank;
            return;
          }
          await(state, flights_[value]);
          break;
      }
    }
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
    if (flight.awaited_by != kNoRank) ready_.emplace(out_.ranks[flight.awaited_by].end_ns, flight.awaited_by);
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

  const ReplayPlan& plan_;
  const double cpu_scale_;
  NetworkModel& model_;
  ReplayResult& out_;
  // By message.
  std::vector<Flight> flights_;
  // By rank: the index of its next action.
  std::vector<std::size_t> next_;
  // Ranks that can act, by their times.
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
