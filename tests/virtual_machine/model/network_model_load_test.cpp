// Tests of the network model under load: conservation, order, saturation, and large worlds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/virtual_machine/model/round_machine.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace {

using namespace margay::virtual_machine;
using namespace margay::virtual_machine::test;

}  // namespace

TEST_CASE("bytes are conserved: ports and links have the load of the messages that crossed them") {
  std::mt19937 bits(17);
  const auto random = [&](std::uint32_t below) { return static_cast<std::uint32_t>(bits() % below); };
  for (const Topology topology : {Topology::mesh, Topology::torus, Topology::hypercube, Topology::fat_tree}) {
    NetworkModel model(grid_or_other(topology, {5, 7}), 35);
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_on_links = 0;
    std::uint64_t at = 0;
    std::vector<std::uint64_t> from_node(35);
    std::vector<std::uint64_t> to_node(35);
    for (int i = 0; i < 2000; ++i) {
      const std::uint32_t from = random(35);
      const std::uint32_t to = random(35);
      const std::uint64_t bytes = random(5000);
      at += random(1000);
      const Transfer transfer = model.transfer(from, to, bytes, at);
      if (from == to) continue;
      bytes_sent += bytes;
      bytes_on_links += bytes * transfer.hops;
      from_node[from] += bytes;
      to_node[to] += bytes;
      // Never earlier than an idle network allows.
      CHECK(transfer.arrival_ns + kPoll + kReceive >= at + model.idle_time_ns(from, to, bytes));
      CHECK(transfer.arrival_ns >= transfer.buffer_free_ns + kLatency);
    }
    CHECK(sum_of(model.injections(0), &Channel::bytes) == bytes_sent);
    CHECK(sum_of(model.ejections(0), &Channel::bytes) == bytes_sent);
    CHECK(sum_of(model.links(0), &Channel::bytes) == bytes_on_links);
    CHECK(sum_of(model.injections(0), &Channel::busy_ns) == bytes_sent * 10);
    CHECK(sum_of(model.links(0), &Channel::busy_ns) == bytes_on_links * 5);
    for (std::uint32_t node = 0; node < 35; ++node) {
      CHECK(model.injections(0)[node].bytes == from_node[node]);
      CHECK(model.ejections(0)[node].bytes == to_node[node]);
    }
    for (const Channel& link : model.links(0)) CHECK(link.busy_ns <= link.free_ns);
  }
}

TEST_CASE("messages of a pair arrive in their order, whatever else is on the way") {
  std::mt19937 bits(4);
  const auto random = [&](std::uint32_t below) { return static_cast<std::uint32_t>(bits() % below); };
  NetworkModel model(mesh_of({4, 4}), 16);
  std::vector<std::uint64_t> latest(16 * 16);
  std::uint64_t at = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t from = random(16);
    const std::uint32_t to = (from + 1 + random(15)) % 16;
    at += random(200);
    const std::uint64_t arrival = model.transfer(from, to, random(10'000), at).arrival_ns;
    CHECK(arrival >= latest[from * 16 + to]);
    latest[from * 16 + to] = arrival;
  }
}

TEST_CASE("a saturated link carries its bandwidth, and no more") {
  Network network = network_of(Topology::mesh, {2});
  network.nodes_per_switch = 8;
  NetworkModel model(machine_of(network), 16);
  std::uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    for (std::uint32_t from = 0; from < 8; ++from)
      last = std::max(last, model.transfer(from, from + 8, 1000, 0).arrival_ns);
  }
  // 800 messages of 5 us each on the one link; the head of the first one and the tail of the last one beside it.
  CHECK(last >= 800 * 5000);
  CHECK(last <= 800 * 5000 + kSend + kLatency + kHop + 2 * 10'000);
}

TEST_CASE("large worlds have channels for their nodes and links, and no tables of pairs") {
  for (const Topology topology : {Topology::mesh, Topology::torus, Topology::hypercube, Topology::fat_tree}) {
    for (const std::uint32_t ranks : {9216U, 65536U}) {
      NetworkModel model(grid_or_other(topology, {0, 0}), ranks);
      CHECK(model.injections(0).size() == ranks);
      CHECK(model.links(0).size() <= std::size_t{ranks} * 64);
      const Transfer transfer = model.transfer(0, ranks - 1, 8, 0);
      CHECK(transfer.hops == model.hops(0, ranks - 1));
      CHECK(transfer.arrival_ns == kSend + kLatency + transfer.hops * kHop + 80);
    }
  }
}
