// Tests of the number of ranks that fit onto a machine.
#include "virtual_machine/model/machine.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace margay::virtual_machine;

Machine machine_of(std::uint32_t nodes, std::uint32_t processors, std::vector<std::uint32_t> shape) {
  Machine machine;
  machine.name = "test";
  machine.nodes = nodes;
  machine.processors_per_node = processors;
  Network network;
  network.topology = Topology::mesh;
  network.shape = std::move(shape);
  machine.networks = {network};
  return machine;
}

}  // namespace

TEST_CASE("ranks fit if each has a processor, and each node a place in every network") {
  const struct {
    const char* what;
    Machine machine;
    // The most ranks that fit.
    std::uint32_t most;
  } kRows[] = {{"fixed", machine_of(4, 2, {2, 2}), 8},
               {"fixed, more places than nodes", machine_of(3, 2, {2, 2}), 6},
               {"as many as needed", machine_of(0, 2, {0, 2}), 2 * kNodesMost},
               {"as many as needed, in a fixed shape", machine_of(0, 2, {2, 2}), 8}};
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    for (const std::uint32_t ranks : {1U, row.most - 1, row.most}) CHECK(check_ranks(row.machine, ranks).ok());
    for (const std::uint32_t ranks : {0U, row.most + 1, ~0U}) CHECK_FALSE(check_ranks(row.machine, ranks).ok());
  }
  // A caller may have changed the nodes of a file's machine.
  CHECK_FALSE(check_ranks(machine_of(5, 2, {2, 2}), 1).ok());
}

TEST_CASE("a world sees all nodes of its machine, or as many as it needs") {
  CHECK(nodes_for(machine_of(7, 2, {0}), 3) == 7);
  CHECK(nodes_for(machine_of(0, 2, {0}), 3) == 2);
  CHECK(nodes_for(machine_of(0, 2, {0}), 4) == 2);
  CHECK(nodes_for(machine_of(0, 1, {0}), 65536) == 65536);
}

TEST_CASE("places for nodes of a fixed shape, and no limit of others") {
  const auto places = [](std::vector<std::uint32_t> shape, std::uint32_t nodes_per_switch) {
    Network network;
    network.shape = std::move(shape);
    network.nodes_per_switch = nodes_per_switch;
    return places_of(network);
  };
  CHECK(places({38, 32, 2}, 2) == 4864);
  CHECK(places({38, 0}, 1) == 0);
  CHECK(places({}, 4) == 0);
  CHECK(places({kNodesMost, kNodesMost, kNodesMost, kNodesMost}, 1) > kNodesMost);
}
