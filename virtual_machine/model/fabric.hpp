// The switches and links of a network, and the route of each message through them.
//
// A node is joined to one switch by a port for sending and one for receiving; these are not links. A link leads from a
// switch to another in one direction. The route depends on the two nodes alone:
//   crossbar    no link: all nodes are on one switch
//   mesh        dimension order: along x to the target's column, then along y, then along z, ...
//   torus       the same, in each dimension the shorter way round, upwards if both are equal
//   hypercube   e-cube: corrects the differing bits of the switch's number, the lowest first
//   fat_tree    up to the first common level, then down. A tree of arity k and n levels is a k-ary n-tree. The
//               digits of the target's number to base k choose the ports upwards, so messages to different targets
//               share no link downwards
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "virtual_machine/model/machine.hpp"

namespace margay::virtual_machine {

// The fabric of one network for a number of nodes. Constant after construction; a route costs O(hops).
class Fabric {
 public:
  // The two switches of a link, in the direction of its messages.
  struct Ends {
    std::uint32_t from;
    std::uint32_t to;
  };

  // Requires: `network` is as parse_machine() returns it; 0 < nodes <= kNodesMost; nodes fit into places_of().
  Fabric(const Network& network, std::uint32_t nodes);

  // Links are numbered from 0. A mesh also has numbers for the links of a torus that close its rings; no route uses
  // them. Replaces `links` by the links of the route from one node to another, in their order. Each is below
  // link_count().
  void find_route(std::uint32_t from_node, std::uint32_t to_node, std::vector<std::uint32_t>& links) const;

  [[nodiscard]] std::uint32_t link_count() const { return link_count_; }
  [[nodiscard]] std::uint32_t switch_count() const { return switch_count_; }
  [[nodiscard]] std::uint32_t nodes_per_switch() const { return nodes_per_switch_; }
  // The switch that a node is on.
  [[nodiscard]] std::uint32_t switch_of(std::uint32_t node) const { return node / nodes_per_switch_; }
  [[nodiscard]] Ends ends_of(std::uint32_t link) const;
  // False: the number stands for a link over the edge of a mesh, or of a switch to itself, which no route has.
  [[nodiscard]] bool has_link(std::uint32_t link) const;
  // The place of a switch, for reports: "(3,4)" of a mesh, "5" of a hypercube, "1:5" (level and number) of a fat tree.
  [[nodiscard]] std::string name_of_switch(std::uint32_t number) const;

  // Switches along each dimension of a mesh or torus; otherwise empty.
  [[nodiscard]] const std::vector<std::uint32_t>& shape() const { return shape_; }
  // Levels of a fat tree, dimensions of the others; 0 for a crossbar.
  [[nodiscard]] std::uint32_t dimensions() const { return dimensions_; }

 private:
  // find_route() for each topology. Of a grid and of a cube `from` and `to` are switches.
  void find_grid_route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const;
  void find_cube_route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links) const;
  void find_tree_route(std::uint32_t from_node, std::uint32_t to_node, std::vector<std::uint32_t>& links) const;
  // The link from a switch of a tree, at `level` and `number`, through its port upwards, or the one back.
  [[nodiscard]] std::uint32_t tree_link(std::uint32_t level, std::uint32_t number, std::uint32_t port,
                                        bool is_down) const;

  Topology topology_;
  std::uint32_t nodes_per_switch_ = 1;
  // Only of a tree.
  std::uint32_t arity_ = 0;
  // As dimensions().
  std::uint32_t dimensions_ = 0;
  std::uint32_t switch_count_ = 1;
  std::uint32_t link_count_ = 0;
  std::vector<std::uint32_t> shape_;
  // Of a grid, the distance in switch numbers from a switch to the next along each dimension. Of a tree, powers of the
  // arity, one for each level.
  std::vector<std::uint32_t> strides_;
};

}  // namespace margay::virtual_machine
