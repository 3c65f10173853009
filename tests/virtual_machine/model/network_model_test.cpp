// Tests of the times of messages, alone and with others on their way.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/virtual_machine/model/round_machine.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace {

using namespace margay::virtual_machine;
using namespace margay::virtual_machine::test;

}  // namespace

TEST_CASE("the time of bytes is that of exact arithmetic, rounded to a nanosecond") {
  for (const double bandwidth : {1e3, 36e6, 125e6, 200e6, 400e6, 1.6e9, 11e9, 3e12}) {
    for (const std::uint64_t bytes : {0ULL, 1ULL, 7ULL, 1000ULL, 65537ULL, 123456789ULL, 1ULL << 39}) {
      CAPTURE(bandwidth);
      CAPTURE(bytes);
      const long double exact = static_cast<long double>(bytes) * 1e9L / static_cast<long double>(bandwidth);
      const auto taken = static_cast<long double>(ByteTime(bandwidth).ns(bytes));
      // The time of a byte is rounded to 2^-32 ns.
      CHECK(std::abs(taken - exact) <= 0.5L + static_cast<long double>(bytes) / 8e9L + exact * 1e-15L);
    }
  }
  CHECK(ByteTime(kUnlimited).ns(kMessageBytesMost - 1) == 0);
}

TEST_CASE("a message alone takes the overheads, the latency, its hops, and its bytes at the least bandwidth") {
  const struct {
    const char* what;
    Machine machine;
    std::uint32_t ranks;
    std::uint32_t from;
    std::uint32_t to;
    std::uint64_t hops;
  } kRows[] = {{"crossbar", machine_of(network_of(Topology::crossbar)), 8, 0, 7, 0},
               {"mesh, neighbours", mesh_of({4, 4}), 16, 5, 6, 1},
               {"mesh, corner to corner", mesh_of({4, 4}), 16, 0, 15, 6},
               {"torus, corner to corner", machine_of(network_of(Topology::torus, {4, 4})), 16, 0, 15, 2},
               {"hypercube, opposite", machine_of(network_of(Topology::hypercube)), 16, 0, 15, 4},
               {"tree, over the top", machine_of(network_of(Topology::fat_tree)), 8, 0, 7, 4}};
  for (const auto& row : kRows) {
    for (const std::uint64_t bytes : {0ULL, 1ULL, 100ULL, 1000000ULL}) {
      for (const std::uint64_t at : {0ULL, 12345ULL}) {
        CAPTURE(row.what);
        CAPTURE(bytes);
        NetworkModel model(row.machine, row.ranks);
        CHECK(model.hops(row.from, row.to) == row.hops);
        const std::uint64_t arrival = at + kSend + kLatency + row.hops * kHop + bytes * 10;
        CHECK(model.idle_time_ns(row.from, row.to, bytes) == arrival - at + kPoll + kReceive);
        const Transfer transfer = model.transfer(row.from, row.to, bytes, at);
        CHECK(transfer.network == 0);
        CHECK(transfer.hops == row.hops);
        CHECK(transfer.sender_free_ns == at + kSend);
        CHECK(transfer.buffer_free_ns == at + kSend + bytes * 10);
        CHECK(transfer.arrival_ns == arrival);
        CHECK(transfer.receive_overhead_ns == kReceive);
        CHECK(transfer.blocked_ns == 0);
      }
    }
  }
}

TEST_CASE("the slowest of injection, links and ejection decides") {
  for (int slow = 0; slow < 3; ++slow) {
    Network network = network_of(Topology::mesh, {3});
    network.injection_bytes_per_s = slow == 0 ? 10e6 : 1e9;
    network.link_bytes_per_s = slow == 1 ? 10e6 : 1e9;
    network.ejection_bytes_per_s = slow == 2 ? 10e6 : 1e9;
    CAPTURE(slow);
    NetworkModel model(machine_of(network), 3);
    const Transfer transfer = model.transfer(0, 2, 1000, 0);
    CHECK(transfer.arrival_ns == kSend + kLatency + 2 * kHop + 100'000);
    CHECK(transfer.buffer_free_ns == kSend + (slow == 0 ? 100'000 : 1000));
  }
}

TEST_CASE("two messages that share a link take turns on it; others do not") {
  // Links are the slowest part here, so that only they are shared.
  Network network = network_of(Topology::mesh, {4, 4});
  network.link_bytes_per_s = 50e6;
  const struct {
    const char* what;
    std::uint32_t first_from;
    std::uint32_t first_to;
    std::uint32_t second_from;
    std::uint32_t second_to;
    bool shares;
  } kRows[] = {{"the same link along x", 0, 2, 1, 3, true},
               {"two links one behind the other", 0, 3, 1, 3, true},
               {"the same link along y, after a turn", 0, 7, 3, 11, true},
               {"the same link, the other direction", 0, 3, 3, 0, false},
               {"crossing at a switch", 1, 13, 4, 7, false},
               {"different rows", 0, 3, 4, 7, false}};
  constexpr std::uint64_t kBytes = 10'000;
  constexpr std::uint64_t kLinkNs = kBytes * 20;
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    NetworkModel model(machine_of(network), 16);
    const std::uint64_t alone =
        NetworkModel(machine_of(network), 16).transfer(row.second_from, row.second_to, kBytes, 0).arrival_ns;
    model.transfer(row.first_from, row.first_to, kBytes, 0);
    const Transfer second = model.transfer(row.second_from, row.second_to, kBytes, 0);
    if (row.shares) {
      // Up to the hops by which the first message's head came later to the shared link.
      CHECK(second.arrival_ns >= alone + kLinkNs - 4 * kHop);
      CHECK(second.arrival_ns <= alone + kLinkNs + 4 * kHop);
      // It waits once: behind the link, the other message is ahead of it.
      CHECK(second.blocked_ns == second.arrival_ns - alone);
    } else {
      CHECK(second.arrival_ns == alone);
      CHECK(second.blocked_ns == 0);
    }
  }
}

TEST_CASE("messages of a node share its port for sending, those to a node its port for receiving") {
  constexpr std::uint64_t kBytes = 1000;
  NetworkModel model(machine_of(network_of(Topology::crossbar)), 8);
  for (std::uint32_t to = 1; to < 4; ++to) {
    const Transfer transfer = model.transfer(0, to, kBytes, 0);
    CHECK(transfer.buffer_free_ns == kSend + to * kBytes * 10);
    CHECK(transfer.arrival_ns == kSend + kLatency + to * kBytes * 10);
    // Its processor is free to compute while the port is busy.
    CHECK(transfer.sender_free_ns == kSend);
  }
  // Other nodes have ports of their own.
  CHECK(model.transfer(4, 5, kBytes, 0).blocked_ns == 0);
  NetworkModel incast(machine_of(network_of(Topology::crossbar)), 8);
  for (std::uint32_t from = 1; from < 8; ++from) {
    CHECK(incast.transfer(from, 0, kBytes, 0).arrival_ns == kSend + kLatency + from * kBytes * 10);
  }
}

TEST_CASE("two slow senders do not fill a fast port: both arrive as if alone") {
  Network network = network_of(Topology::crossbar);
  network.ejection_bytes_per_s = 200e6;
  NetworkModel model(machine_of(network), 4);
  const std::uint64_t alone = kSend + kLatency + 10'000;
  CHECK(model.transfer(1, 0, 1000, 0).arrival_ns == alone);
  CHECK(model.transfer(2, 0, 1000, 0).arrival_ns == alone);
  // A third one exceeds it.
  CHECK(model.transfer(3, 0, 1000, 0).arrival_ns == alone + 5'000);
}

TEST_CASE("a channel that is free again delays no later message") {
  NetworkModel model(mesh_of({4, 4}), 16);
  const std::uint64_t first = model.transfer(0, 3, 100'000, 0).arrival_ns;
  const Transfer later = model.transfer(0, 3, 100'000, first);
  CHECK(later.arrival_ns == first * 2);
  CHECK(later.blocked_ns == 0);
}

TEST_CASE("a message of a later call but an earlier time passes before a channel's latest messages") {
  NetworkModel model(machine_of(network_of(Topology::crossbar)), 4);
  const auto arrival = [&](std::uint32_t from, std::uint64_t bytes, std::uint64_t at_ns) {
    return model.transfer(from, 3, bytes, at_ns).arrival_ns - at_ns;
  };
  NetworkModel alone(machine_of(network_of(Topology::crossbar)), 4);
  const std::uint64_t kAlone = alone.transfer(0, 3, 100, 0).arrival_ns;
  // The channels are busy for 1,000 ns with each message.
  CHECK(arrival(0, 100, 1'000'000) == kAlone);
  CHECK(arrival(1, 100, 990'000) == kAlone);
  // Too long: behind all.
  CHECK(arrival(2, 1'000, 991'000) > 10'000);
  // In the order of the times, all wait.
  CHECK(arrival(0, 100, 1'000'100) > kAlone);
}

TEST_CASE("a link that fails carries no message, in both directions, from then on") {
  NetworkModel model(mesh_of({4, 4}), 16);
  model.fail_link(5, 6, 1'000);
  const auto is_lost = [&](std::uint32_t from, std::uint32_t to, std::uint64_t at_ns) {
    return model.transfer(from, to, 8, at_ns).arrival_ns == kLost;
  };
  CHECK_FALSE(is_lost(5, 6, 999));
  CHECK(is_lost(5, 6, 1'000));
  CHECK(is_lost(6, 5, 1'000));
  CHECK(is_lost(4, 7, 2'000));
  // Through the links above and below.
  CHECK_FALSE(is_lost(1, 2, 2'000));
  CHECK_FALSE(is_lost(9, 10, 2'000));
  CHECK_FALSE(is_lost(5, 9, 2'000));
}

TEST_CASE("ranks of a node copy through its memory, and use no network") {
  Machine machine = mesh_of({4});
  machine.processors_per_node = 2;
  NetworkModel model(machine, 8);
  for (const std::uint32_t to : {0U, 1U}) {
    const Transfer transfer = model.transfer(0, to, 500, 1000);
    CHECK(transfer.network == kInMemory);
    CHECK(transfer.hops == 0);
    CHECK(transfer.sender_free_ns == 1000 + 30 + 500);
    CHECK(transfer.buffer_free_ns == transfer.sender_free_ns);
    CHECK(transfer.arrival_ns == transfer.sender_free_ns + 70);
    CHECK(transfer.receive_overhead_ns == 30);
    CHECK(model.idle_time_ns(0, to, 500) == 30 + 500 + 70 + 30);
  }
  CHECK(sum_of(model.injections(0), &Channel::bytes) == 0);
}

TEST_CASE("the node of each rank, by placement") {
  Machine machine = mesh_of({0});
  machine.processors_per_node = 3;
  for (const Placement placement : {Placement::block, Placement::round_robin}) {
    machine.placement = placement;
    for (const std::uint32_t nodes : {0U, 5U}) {
      machine.nodes = nodes;
      const NetworkModel model(machine, 10);
      CHECK(model.nodes() == (nodes == 0 ? 4 : 5));
      std::vector<std::uint32_t> ranks_on(model.nodes());
      for (std::uint32_t rank = 0; rank < 10; ++rank) {
        const std::uint32_t node = model.node_of(rank);
        CHECK(node == (placement == Placement::block ? rank / 3 : rank % model.nodes()));
        REQUIRE(node < model.nodes());
        CHECK(++ranks_on[node] <= 3);
      }
    }
  }
}

TEST_CASE("a network of partitions carries messages inside them only, if it is the first one") {
  Machine machine = machine_of(network_of(Topology::crossbar));
  machine.networks[0].applies = Reach::partition;
  machine.networks.push_back(network_of(Topology::mesh, {0}));
  machine.nodes_per_partition = 3;
  NetworkModel model(machine, 8);
  for (std::uint32_t from = 0; from < 8; ++from) {
    for (std::uint32_t to = 0; to < 8; ++to) {
      CHECK(model.partition_of(model.node_of(from)) == from / 3);
      const std::uint32_t network = from == to ? kInMemory : from / 3 == to / 3 ? 0 : 1;
      CHECK(model.network_between(from, to) == network);
      CHECK(model.transfer(from, to, 0, 0).network == network);
    }
  }
  std::swap(machine.networks[0], machine.networks[1]);
  CHECK(NetworkModel(machine, 8).network_between(0, 1) == 0);
  machine.nodes_per_partition = 0;
  std::swap(machine.networks[0], machine.networks[1]);
  CHECK(NetworkModel(machine, 8).network_between(0, 7) == 0);
}

TEST_CASE("a network is in use if it joins any two ranks") {
  Machine machine = machine_of(network_of(Topology::crossbar));
  machine.networks[0].applies = Reach::partition;
  machine.networks.push_back(network_of(Topology::mesh, {0}));
  machine.processors_per_node = 2;
  for (const Placement placement : {Placement::block, Placement::round_robin}) {
    for (const std::uint32_t nodes : {0U, 4U}) {
      for (const std::uint32_t partition : {0U, 1U, 2U, 3U}) {
        for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
          machine.placement = placement;
          machine.nodes = nodes;
          machine.nodes_per_partition = partition;
          const NetworkModel model(machine, ranks);
          std::vector<bool> joins(2);
          for (std::uint32_t from = 0; from < ranks; ++from) {
            for (std::uint32_t to = 0; to < ranks; ++to) {
              const std::uint32_t network = model.network_between(from, to);
              if (network != kInMemory) joins[network] = true;
            }
          }
          CAPTURE(partition);
          CAPTURE(ranks);
          CHECK(model.is_in_use(0) == joins[0]);
          CHECK(model.is_in_use(1) == joins[1]);
        }
      }
    }
  }
}
