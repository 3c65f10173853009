#include "command/simulate/replay_shared.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "command/trace/story/collectives.hpp"

namespace margay::command {

namespace {

using collectives::Operation;

// The bytes of a tree's message between a rank with a subtree of `ranks` of all `size` ranks and the rank above it; a
// direction that the operation does not use is absent.
struct TreeBytes {
  bool goes_up = false;
  bool goes_down = false;
  std::uint64_t up = 0;
  std::uint64_t down = 0;
};

TreeBytes tree_bytes(Operation operation, std::uint64_t bytes, std::uint64_t ranks, std::uint64_t size) {
  switch (operation) {
    case Operation::barrier:
      return {true, true, 0, 0};
    case Operation::bcast:
      return {false, true, 0, bytes};
    case Operation::reduce:
      return {true, false, bytes, 0};
    case Operation::gather:
      return {true, false, bytes * ranks, 0};
    case Operation::scatter:
      return {false, true, 0, bytes * ranks};
    case Operation::allgather:
      return {true, true, bytes * ranks, bytes * size};
    case Operation::reduce_scatter:
      return {true, true, bytes, bytes * ranks / size};
    default:  // allreduce, scans
      return {true, true, bytes, bytes};
  }
}

bool is_direct(Operation operation) {
  return operation == Operation::alltoall || operation == Operation::neighbor_alltoall ||
         operation == Operation::neighbor_allgather;
}

class CallMaker {
 public:
  CallMaker(const ReplayedCall& call, ReplayPlan& plan)
      : call_(call), plan_(plan), size_(static_cast<std::uint32_t>(call.members.size())), actions_(size_) {}

  void run() {
    if (is_direct(call_.operation)) {
      for (std::uint32_t distance = 1; distance < size_; ++distance)
        for (std::uint32_t from = 0; from < size_; ++from) send(from, (from + distance) % size_, call_.bytes);
      for (std::vector<ReplayAction>& own : actions_) {
        std::stable_partition(own.begin(), own.end(),
                              [](const ReplayAction& action) { return action.step == ReplayStep::send; });
      }
    } else {
      // Positions are relative to the root. Subtrees of ever more ranks join, and part in the opposite order.
      std::uint32_t top = 1;
      for (; top < size_; top *= 2) join(top, true);
      while ((top /= 2) > 0) join(top, false);
    }
    std::move(actions_.begin(), actions_.end(), std::back_inserter(plan_.tasks));
  }

 private:
  void join(std::uint32_t distance, bool is_upward) {
    for (std::uint32_t position = distance; position < size_; position += 2 * distance) {
      const TreeBytes bytes = tree_bytes(call_.operation, call_.bytes, std::min(distance, size_ - position), size_);
      const std::uint32_t below = (position + call_.root) % size_;
      const std::uint32_t above = (position - distance + call_.root) % size_;
      if (is_upward && bytes.goes_up) send(below, above, bytes.up);
      if (!is_upward && bytes.goes_down) send(above, below, bytes.down);
    }
  }

  void send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    const std::uint64_t number = plan_.messages.size();
    plan_.messages.push_back({call_.members[from], call_.members[to], bytes});
    actions_[from].push_back({ReplayStep::send, number});
    actions_[to].push_back({ReplayStep::await, number});
  }

  const ReplayedCall& call_;
  ReplayPlan& plan_;
  const std::uint32_t size_;
  std::vector<std::vector<ReplayAction>> actions_;
};

// The parts of one call, by the members' ranks in the communicator.
using Members = std::map<std::uint32_t, const CollectivePart*>;

}  // namespace

void add_call(const ReplayedCall& call, ReplayPlan& plan) {
  CallMaker(call, plan).run();
}

SharedCalls::SharedCalls(const Trace& trace, const TraceNames& names, ReplayPlan& plan) : plan_(plan) {
  const Collectives collectives(trace, names);
  const auto entry = [&trace](std::size_t at) -> const sim::TraceEvent& { return trace.entries[at].event; };
  // A communicator's number, its members' and the call's; and of several such calls, the one of this position.
  using Name = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  std::map<std::pair<std::uint32_t, Name>, std::size_t> calls_before;
  std::map<std::pair<Name, std::size_t>, Members> groups;
  for (const CollectivePart& part : collectives.parts()) {
    const sim::TraceEvent& begin = entry(part.begin);
    const CollectiveShape shape = collective_shape(begin);
    if (!shape.operation || shape.algorithm != collectives::Algorithm::shared) continue;
    const Name name{part.context, names.members_number(part.file, part.context, begin.time).value_or(0), part.number};
    groups[{name, calls_before[{part.file, name}]++}][split_envelope(begin.match_bits).source] = &part;
  }
  for (const auto& [group, members] : groups) {
    const bool has_ended = std::all_of(members.begin(), members.end(),
                                       [](const auto& member) { return member.second->end != CollectivePart::kNone; });
    if (!has_ended) continue;
    const sim::TraceEvent& begin = entry(members.begin()->second->begin);
    const CollectiveShape shape = collective_shape(begin);
    ReplayedCall call;
    call.operation = *shape.operation;
    for (const auto& [member, part] : members) {
      if (member == shape.root) call.root = static_cast<std::uint32_t>(call.members.size());
      call.members.push_back(part->file);
      call.bytes = std::max(call.bytes, entry(part->begin).bytes);
    }
    std::uint64_t task = plan.tasks.size();
    add_call(call, plan);
    for (const auto& [member, part] : members) {
      actions_[part->begin] = {ReplayStep::begin, task};
      actions_[part->end] = {ReplayStep::end, task++};
    }
  }
}

void SharedCalls::put(std::uint32_t rank, std::size_t at) {
  const auto found = actions_.find(at);
  if (found != actions_.end()) plan_.ranks[rank].push_back(found->second);
}

}  // namespace margay::command
