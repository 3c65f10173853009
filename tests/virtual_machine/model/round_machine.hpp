// Machines with round figures, by which tests compute times by hand.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "virtual_machine/model/network_model.hpp"

namespace margay::virtual_machine::test {

inline constexpr std::uint64_t kSend = 2000;
inline constexpr std::uint64_t kLatency = 1000;
inline constexpr std::uint64_t kHop = 10;
inline constexpr std::uint64_t kReceive = 3000;
inline constexpr std::uint64_t kPoll = 100;

// 10 ns a byte in ports, 5 ns a byte on links.
inline Network network_of(Topology topology, std::vector<std::uint32_t> shape = {}) {
  Network network;
  network.name = "net";
  network.topology = topology;
  network.shape = std::move(shape);
  network.arity = topology == Topology::fat_tree ? 2 : 0;
  network.link_bytes_per_s = 200e6;
  network.injection_bytes_per_s = 100e6;
  network.ejection_bytes_per_s = 100e6;
  network.latency_ns = kLatency;
  network.hop_ns = kHop;
  network.send_overhead_ns = kSend;
  network.receive_overhead_ns = kReceive;
  network.poll_ns = kPoll;
  return network;
}

// 1 ns a byte in memory.
inline Machine machine_of(Network network) {
  Machine machine;
  machine.name = "test";
  machine.memory_bytes_per_s = 1e9;
  machine.memory_latency_ns = 70;
  machine.memory_overhead_ns = 30;
  machine.networks.push_back(std::move(network));
  return machine;
}

inline Machine mesh_of(std::vector<std::uint32_t> shape) {
  return machine_of(network_of(Topology::mesh, std::move(shape)));
}

inline Machine grid_or_other(Topology topology, std::vector<std::uint32_t> shape) {
  const bool is_grid = topology == Topology::mesh || topology == Topology::torus;
  return machine_of(network_of(topology, is_grid ? std::move(shape) : std::vector<std::uint32_t>{}));
}

// The sum over ports or links.
inline std::uint64_t sum_of(std::span<const Channel> channels, std::uint64_t Channel::*member) {
  return std::accumulate(channels.begin(), channels.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, const Channel& one) { return sum + one.*member; });
}

}  // namespace margay::virtual_machine::test
