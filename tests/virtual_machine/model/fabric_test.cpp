// Tests of routes: each is a path from switch to switch, of the topology's distance.
#include "virtual_machine/model/fabric.hpp"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace margay::virtual_machine;

using Route = std::vector<std::uint32_t>;

Network grid(Topology topology, std::vector<std::uint32_t> shape, std::uint32_t nodes_per_switch = 1) {
  Network network;
  network.topology = topology;
  network.shape = std::move(shape);
  network.nodes_per_switch = nodes_per_switch;
  return network;
}

Network tree(std::uint32_t arity) {
  Network network;
  network.topology = Topology::fat_tree;
  network.arity = arity;
  return network;
}

Network cube(std::uint32_t nodes_per_switch = 1) {
  return grid(Topology::hypercube, {}, nodes_per_switch);
}

// The distance of two nodes by the definition of the topology, computed independently of the fabric.
std::uint32_t distance(const Network& network, const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
  std::uint32_t a = from / network.nodes_per_switch;
  std::uint32_t b = to / network.nodes_per_switch;
  std::uint32_t sum = 0;
  switch (network.topology) {
    case Topology::crossbar:
      return 0;
    case Topology::hypercube:
      return static_cast<std::uint32_t>(std::popcount(a ^ b));
    case Topology::fat_tree:
      for (a = from / network.arity, b = to / network.arity; a != b; a /= network.arity, b /= network.arity) sum += 2;
      return sum;
    case Topology::mesh:
    case Topology::torus:
      for (const std::uint32_t extent : fabric.shape()) {
        const auto apart =
            static_cast<std::uint32_t>(std::abs(static_cast<int>(a % extent) - static_cast<int>(b % extent)));
        sum += network.topology == Topology::torus ? std::min(apart, extent - apart) : apart;
        a /= extent;
        b /= extent;
      }
      return sum;
  }
  return 0;
}

// The names of the switches on a route, with the first one.
std::vector<std::string> names(const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
  Route route;
  fabric.find_route(from, to, route);
  std::vector<std::string> result = {fabric.name_of_switch(fabric.switch_of(from))};
  for (const std::uint32_t link : route) result.push_back(fabric.name_of_switch(fabric.ends_of(link).to));
  return result;
}

}  // namespace

TEST_CASE("each route is a path of links between its two switches, and a shortest one") {
  const struct {
    const char* what;
    Network network;
    std::uint32_t nodes;
  } kRows[] = {{"crossbar", grid(Topology::crossbar, {}), 17},
               {"mesh of 5 x 3", grid(Topology::mesh, {5, 3}), 15},
               {"mesh of 4 x 3 x 2, two nodes on each", grid(Topology::mesh, {4, 3, 2}, 2), 47},
               {"mesh that grows", grid(Topology::mesh, {0, 0}), 50},
               {"mesh, one dimension", grid(Topology::mesh, {0}), 9},
               {"torus of 5 x 4", grid(Topology::torus, {5, 4}), 20},
               {"torus of 2 x 1 x 3", grid(Topology::torus, {2, 1, 3}), 6},
               {"hypercube", cube(), 16},
               {"hypercube with switches that have no nodes", cube(), 11},
               {"hypercube, four nodes on each", cube(4), 30},
               {"one node", cube(), 1},
               {"tree of one level", tree(4), 4},
               {"binary tree of five levels", tree(2), 32},
               {"tree of three levels, not full", tree(4), 50},
               {"tree of arity 3", tree(3), 81}};
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    const Fabric fabric(row.network, row.nodes);
    for (std::uint32_t from = 0; from < row.nodes; ++from) {
      for (std::uint32_t to = 0; to < row.nodes; ++to) {
        CAPTURE(from);
        CAPTURE(to);
        Route route = {7};  // is replaced
        fabric.find_route(from, to, route);
        REQUIRE(route.size() == distance(row.network, fabric, from, to));
        std::uint32_t at = fabric.switch_of(from);
        for (const std::uint32_t link : route) {
          REQUIRE(link < fabric.link_count());
          REQUIRE(fabric.has_link(link));
          const Fabric::Ends ends = fabric.ends_of(link);
          REQUIRE(ends.from == at);
          REQUIRE(ends.to < fabric.switch_count());
          REQUIRE(ends.to != at);
          at = ends.to;
        }
        REQUIRE(at == fabric.switch_of(to));
      }
    }
  }
}

TEST_CASE("a fabric has the links that routes use") {
  const struct {
    const char* what;
    Network network;
    std::uint32_t nodes;
  } kRows[] = {{"mesh", grid(Topology::mesh, {4, 3, 1}), 12},
               {"torus", grid(Topology::torus, {5, 1, 4}), 20},
               {"hypercube", cube(), 16},
               {"tree", tree(2), 16}};
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    const Fabric fabric(row.network, row.nodes);
    std::set<std::uint32_t> used;
    Route route;
    for (std::uint32_t from = 0; from < row.nodes; ++from) {
      for (std::uint32_t to = 0; to < row.nodes; ++to) {
        fabric.find_route(from, to, route);
        used.insert(route.begin(), route.end());
      }
    }
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
      CHECK(fabric.has_link(link) == used.contains(link));
  }
}

TEST_CASE("messages are routed along the dimensions in their order, and by the lowest bit first") {
  const Fabric mesh(grid(Topology::mesh, {4, 3}), 12);
  CHECK(names(mesh, 0, 11) == std::vector<std::string>{"(0,0)", "(1,0)", "(2,0)", "(3,0)", "(3,1)", "(3,2)"});
  CHECK(names(mesh, 11, 0) == std::vector<std::string>{"(3,2)", "(2,2)", "(1,2)", "(0,2)", "(0,1)", "(0,0)"});
  const Fabric torus(grid(Topology::torus, {5, 4}), 20);
  CHECK(names(torus, 0, 3) == std::vector<std::string>{"(0,0)", "(4,0)", "(3,0)"});
  // Both ways round are two links long.
  CHECK(names(torus, 0, 10) == std::vector<std::string>{"(0,0)", "(0,1)", "(0,2)"});
  const Fabric hypercube(cube(), 8);
  CHECK(names(hypercube, 1, 6) == std::vector<std::string>{"1", "0", "2", "6"});
  const Fabric two_levels(tree(2), 8);
  CHECK(names(two_levels, 0, 7) == std::vector<std::string>{"0:0", "1:1", "2:3", "1:3", "0:3"});
  CHECK(names(two_levels, 0, 1) == std::vector<std::string>{"0:0"});
}

TEST_CASE("a mesh or torus with a 0 in its shape grows with its nodes, near to a square") {
  const struct {
    std::vector<std::uint32_t> shape;
    std::uint32_t nodes;
    std::uint32_t nodes_per_switch;
    std::vector<std::uint32_t> fitted;
  } kRows[] = {{{0, 0}, 1024, 1, {32, 32}},
               {{0, 0}, 512, 1, {32, 16}},
               {{0, 0}, 24, 1, {6, 4}},
               {{0, 0}, 1, 1, {1, 1}},
               {{0, 0}, 7, 1, {3, 3}},
               {{0, 0, 0}, 1000, 1, {10, 10, 10}},
               {{16, 0}, 100, 1, {16, 7}},
               {{0, 4}, 64, 1, {16, 4}},
               {{0}, 9, 1, {9}},
               {{0, 0}, 128, 2, {8, 8}},
               {{38, 32, 2}, 4608, 2, {38, 32, 2}}};
  for (const auto& row : kRows) {
    const Fabric fabric(grid(Topology::mesh, row.shape, row.nodes_per_switch), row.nodes);
    CAPTURE(row.nodes);
    CHECK_MESSAGE(fabric.shape() == row.fitted, fmt::format("{}", fabric.shape()));
    CHECK(fabric.switch_count() * row.nodes_per_switch >= row.nodes);
  }
}

TEST_CASE("in a fat tree, messages to different nodes share no link downwards, wherever they are from") {
  constexpr std::uint32_t kNodes = 27;
  const Fabric fabric(tree(3), kNodes);
  std::map<std::uint32_t, std::set<std::uint32_t>> targets;
  for (std::uint32_t from = 0; from < kNodes; ++from) {
    for (std::uint32_t to = 0; to < kNodes; ++to) {
      Route route;
      fabric.find_route(from, to, route);
      for (std::size_t i = route.size() / 2; i < route.size(); ++i) targets[route[i]].insert(to);
    }
  }
  CHECK(targets.size() == std::size_t{kNodes} * 2);
  for (const auto& [link, nodes] : targets) CHECK(nodes.size() == 1);
}
