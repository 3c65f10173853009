// Tests of the messages that a replay gives to collective calls in shared memory.
#include "command/simulate/replay_shared.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "tests/virtual_machine/model/round_machine.hpp"

namespace margay::command {

using collectives::Operation;

constexpr std::uint64_t kBytes = 1000;

ReplayPlan plan_of(Operation operation, std::uint32_t ranks, std::uint32_t root) {
  ReplayPlan plan;
  ReplayedCall call{
      .members = std::vector<std::uint32_t>(ranks), .operation = operation, .root = root, .bytes = kBytes};
  std::iota(call.members.begin(), call.members.end(), 0U);
  add_call(call, plan);
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    plan.ranks.push_back({{ReplayStep::begin, rank}, {ReplayStep::end, rank}});
  return plan;
}

TEST_CASE("the messages of a call: their number, and their bytes together") {
  // Of 6 ranks. Subtrees below the root have 1, 1, 1, 2 and 2 ranks.
  const struct {
    Operation operation;
    std::size_t messages;
    std::uint64_t blocks;
  } cases[] = {
      {Operation::barrier, 10, 0},    {Operation::bcast, 5, 5},      {Operation::reduce, 5, 5},
      {Operation::allreduce, 10, 10}, {Operation::gather, 5, 7},     {Operation::scatter, 5, 7},
      {Operation::allgather, 10, 37}, {Operation::alltoall, 30, 30}, {Operation::scan, 10, 10},
  };
  for (const auto& one : cases) {
    for (const std::uint32_t root : {0U, 4U}) {
      CAPTURE(name(one.operation));
      CAPTURE(root);
      const ReplayPlan plan = plan_of(one.operation, 6, root);
      CHECK_EQ(plan.messages.size(), one.messages);
      const std::uint64_t bytes =
          std::accumulate(plan.messages.begin(), plan.messages.end(), std::uint64_t{0},
                          [](std::uint64_t sum, const ReplayMessage& message) { return sum + message.bytes; });
      CHECK_EQ(bytes, one.blocks * kBytes);
    }
  }
}

TEST_CASE("data flows from the root, or to it, and each rank's task ends") {
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
    for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce,
                                      Operation::allgather, Operation::alltoall, Operation::reduce_scatter}) {
      CAPTURE(ranks);
      CAPTURE(name(operation));
      const std::uint32_t root = operation == Operation::bcast || operation == Operation::reduce ? ranks / 2 : 0;
      ReplayPlan plan = plan_of(operation, ranks, root);
      // The last rank begins late, so that the ranks that depend on it end later.
      const std::uint32_t late = operation == Operation::bcast ? root : ranks - 1;
      constexpr std::uint64_t kLate = 100'000'000;
      plan.ranks[late].insert(plan.ranks[late].begin(), {ReplayStep::compute, kLate});
      virtual_machine::NetworkModel model(
          virtual_machine::test::machine_of(virtual_machine::test::network_of(virtual_machine::Topology::crossbar)),
          ranks);
      ReplayResult result;
      const portals::Status status = replay(plan, 1, model, result);
      REQUIRE_MESSAGE(status.ok(), status.sentence());
      CHECK_EQ(result.messages, plan.messages.size());
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CAPTURE(rank);
        const bool depends = operation != Operation::reduce || rank == root;
        if (depends) CHECK(result.ranks[rank].end_ns >= kLate);
      }
    }
  }
}

TEST_CASE("members are numbered by the communicator, not by the world") {
  ReplayPlan plan;
  add_call({.members = {7, 3, 5}, .operation = Operation::bcast, .root = 1, .bytes = kBytes}, plan);
  std::set<std::uint32_t> receivers;
  for (const ReplayMessage& message : plan.messages) receivers.insert(message.to);
  CHECK_EQ(receivers, std::set<std::uint32_t>{5, 7});
  // Rank 3, the root, sends only.
  CHECK(std::all_of(plan.tasks[1].begin(), plan.tasks[1].end(),
                    [](const ReplayAction& action) { return action.step == ReplayStep::send; }));
  CHECK_EQ(plan.tasks[1].size(), 2);
}

}  // namespace margay::command
