// Tests of replays of small plans, whose times are computed by hand.
#include "command/simulate/replay_model.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/virtual_machine/model/round_machine.hpp"

namespace margay::command {

using virtual_machine::Machine;
using virtual_machine::NetworkModel;
using virtual_machine::Topology;
using virtual_machine::test::kLatency;
using virtual_machine::test::kPoll;
using virtual_machine::test::kReceive;
using virtual_machine::test::kSend;
using virtual_machine::test::machine_of;
using virtual_machine::test::network_of;

using Steps = std::vector<ReplayAction>;

// From program to program, for a body of 100 bytes: 10 ns a byte.
constexpr std::uint64_t kBody = 1000;
constexpr std::uint64_t kOneWay = kSend + kLatency + kBody + kPoll + kReceive;

ReplayAction compute(std::uint64_t ns) {
  return {ReplayStep::compute, ns};
}
ReplayAction send(std::uint64_t message) {
  return {ReplayStep::send, message};
}
ReplayAction await(std::uint64_t message) {
  return {ReplayStep::await, message};
}
ReplayAction event(std::uint64_t number) {
  return {ReplayStep::event, number};
}
ReplayAction begin(std::uint64_t task) {
  return {ReplayStep::begin, task};
}
ReplayAction end(std::uint64_t task) {
  return {ReplayStep::end, task};
}

// On a crossbar with one rank on each node, unless another machine is given.
ReplayResult replay_of(const ReplayPlan& plan, double cpu_scale = 1,
                       Machine machine = machine_of(network_of(Topology::crossbar))) {
  NetworkModel model(std::move(machine), static_cast<std::uint32_t>(plan.ranks.size()));
  ReplayResult result;
  const portals::Status status = replay(plan, cpu_scale, model, result);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  for (const ReplayedRank& rank : result.ranks)
    CHECK_EQ(rank.end_ns, rank.compute_ns + rank.send_ns + rank.receive_ns + rank.wait_ns);
  return result;
}

TEST_CASE("a ping-pong takes the network's times, and computations are scaled") {
  const ReplayPlan plan{.messages = {{0, 1, 100}, {1, 0, 100}},
                        .ranks = {Steps{compute(500), send(0), event(0), await(1), event(1)},
                                  Steps{await(0), event(2), compute(700), send(1)}},
                        .events = 3};
  const ReplayResult result = replay_of(plan, 2);
  CHECK_EQ(result.event_ns, std::vector<std::uint64_t>{1000 + kSend, 2400 + 2 * kOneWay, 1000 + kOneWay});
  CHECK_EQ(result.elapsed_ns(), 2400 + 2 * kOneWay);
  CHECK_EQ(result.messages, 2);
  CHECK_EQ(result.bytes, 200);
  CHECK_EQ(result.ranks[0].compute_ns, 1000);
  CHECK_EQ(result.ranks[0].send_ns, kSend);
  CHECK_EQ(result.ranks[0].receive_ns, kPoll + kReceive);
  // Of rank 1: until the first header arrives.
  CHECK_EQ(result.ranks[1].wait_ns, 1000 + kOneWay - kPoll - kReceive);
}

TEST_CASE("a message that has arrived costs its receiver no wait") {
  const ReplayPlan plan{.messages = {{0, 1, 100}}, .ranks = {Steps{send(0)}, Steps{compute(1'000'000), await(0)}}};
  const ReplayResult result = replay_of(plan);
  CHECK_EQ(result.elapsed_ns(), 1'000'000 + kPoll + kReceive);
  CHECK_EQ(result.ranks[1].wait_ns, 0);

  Machine machine = machine_of(network_of(Topology::crossbar));
  machine.coprocessor = true;
  CHECK_EQ(replay_of(plan, 1, machine).elapsed_ns(), 1'000'000);
}

TEST_CASE("ranks send in the order of their times, not of their numbers") {
  // Both bodies take the receiver's port for 100 us.
  const ReplayPlan plan{
      .messages = {{0, 2, 10'000}, {1, 2, 10'000}},
      .ranks = {Steps{compute(50'000), send(0)}, Steps{send(1)}, Steps{await(1), event(0), await(0), event(1)}},
      .events = 2};
  const ReplayResult result = replay_of(plan);
  CHECK_EQ(result.event_ns[0], kSend + kLatency + 100'000 + kPoll + kReceive);
  CHECK_EQ(result.event_ns[1], kSend + kLatency + 200'000 + kPoll + kReceive);
}

TEST_CASE("a long body travels in segments behind its header") {
  constexpr std::uint64_t kBytes = 200'000;
  const ReplayPlan plan{.messages = {{0, 1, kBytes}}, .ranks = {Steps{send(0)}, Steps{await(0)}}};
  const ReplayResult network = replay_of(plan);
  CHECK_EQ(network.ranks[0].end_ns, kSend);
  // The receiver's work on the header is done before the body has arrived.
  CHECK_EQ(network.elapsed_ns(), kSend + kLatency + kSend + kBytes * 10);

  Machine machine = machine_of(network_of(Topology::crossbar));
  machine.processors_per_node = 2;
  const ReplayResult memory = replay_of(plan, 1, machine);
  CHECK_EQ(memory.ranks[0].end_ns, 30 + kBytes);
  CHECK_EQ(memory.elapsed_ns(), 30 + kBytes + 70 + 30);
}

TEST_CASE("a task makes progress while its rank waits for something else") {
  // Rank 1 passes message 0 on in its task, although it waits for the answer of rank 2 to that.
  const ReplayPlan plan{
      .messages = {{0, 1, 100}, {1, 2, 100}, {2, 1, 100}},
      .ranks = {Steps{send(0)}, Steps{begin(0), await(2), end(0), event(0)}, Steps{await(1), send(2)}},
      .tasks = {Steps{await(0), send(1)}},
      .events = 1};
  CHECK_EQ(replay_of(plan).event_ns[0], 3 * kOneWay);
}

TEST_CASE("a rank waits for its task, and has its times") {
  const ReplayPlan plan{
      .messages = {{0, 1, 100}}, .ranks = {Steps{send(0)}, Steps{begin(0), end(0)}}, .tasks = {Steps{await(0)}}};
  const ReplayResult result = replay_of(plan);
  CHECK_EQ(result.elapsed_ns(), kOneWay);
  CHECK_EQ(result.ranks[1].receive_ns, kPoll + kReceive);
  CHECK_EQ(result.ranks[1].wait_ns, kOneWay - kPoll - kReceive);
}

TEST_CASE("a task does not wait for a message that depends on the task's end") {
  const ReplayPlan plan{.messages = {{1, 0, 100}, {0, 1, 100}},
                        .ranks = {Steps{begin(0), end(0), send(1)}, Steps{await(1), send(0)}},
                        .tasks = {Steps{await(0)}}};
  CHECK_EQ(replay_of(plan).elapsed_ns(), kOneWay + kSend);
}

TEST_CASE("ranks that wait for one another are an error") {
  const ReplayPlan plan{.messages = {{1, 0, 100}, {0, 1, 100}},
                        .ranks = {Steps{await(0), send(1)}, Steps{await(1), send(0)}}};
  NetworkModel model(machine_of(network_of(Topology::crossbar)), 2);
  ReplayResult result;
  const portals::Status status = replay(plan, 1, model, result);
  CHECK_FALSE(status.ok());
  CHECK_MESSAGE(status.sentence().find("rank 0") != std::string::npos, status.sentence());
}

}  // namespace margay::command
