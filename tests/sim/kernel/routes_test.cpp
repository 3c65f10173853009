// Tests of Routes: the wire that leads to each rank.
#include "sim/kernel/routes.hpp"

#include <doctest/doctest.h>

#include "sim/wire/self_wire.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::sim {

TEST_CASE("routes: each rank has the assigned wire, and each wire is listed once, fastest first") {
  TransmissionList finished;
  VirtualNetwork network(5, 1, {});
  Wire& others = network.attach(2, finished);
  SelfWire self({0, 2}, finished);
  std::vector<Wire*> by_rank(5, &others);
  by_rank[2] = &self;
  const Routes routes(by_rank);
  REQUIRE(routes.size() == 5);
  for (std::uint32_t rank = 0; rank < 5; ++rank) CHECK(routes[rank] == by_rank[rank]);
  CHECK(routes.wires() == std::vector<Wire*>{&self, &others});
  // The same table, from the pattern that ranks share.
  const auto pattern = Routes::pattern_of(5);
  for (std::uint32_t me = 0; me < 5; ++me) {
    const Routes shared(pattern, me, self, others);
    REQUIRE(shared.size() == 5);
    for (std::uint32_t rank = 0; rank < 5; ++rank) CHECK(shared[rank] == (rank == me ? &self : &others));
    CHECK(shared.wires() == std::vector<Wire*>{&self, &others});
  }
  const Routes alone(std::vector<Wire*>{&self});
  CHECK(alone[0] == &self);
  CHECK(alone.wires() == std::vector<Wire*>{&self});
}

TEST_CASE("routes: a rank gets another wire, and tables that share a pattern keep theirs") {
  TransmissionList finished;
  VirtualNetwork network(4, 1, {});
  VirtualNetwork other_network(4, 1, {});
  Wire& others = network.attach(0, finished);
  Wire& guests = other_network.attach(0, finished);
  SelfWire self({0, 0}, finished);
  const auto pattern = Routes::pattern_of(4);
  Routes changed(pattern, 0, self, others);
  const Routes unchanged(pattern, 0, self, others);
  changed.set(3, guests);
  changed.set(1, guests);
  CHECK(changed[0] == &self);
  CHECK(changed[1] == &guests);
  CHECK(changed[2] == &others);
  CHECK(changed[3] == &guests);
  CHECK(unchanged[3] == &others);
}

}  // namespace margay::sim
