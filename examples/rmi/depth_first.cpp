// A depth-first search of a distributed graph (paper 004, section 5.3): "One node begins the search on its local
// vertexes while the other nodes wait. As the search progresses to remote vertexes, RMI can be used to tell the owning
// nodes to continue the search on their local data."
//
//   margay run -n 4 depth_first [VERTICES [TURNS]]
//
// The other nodes wait at the fence, which ends when no node has anything left to search: it counts the requests that
// methods send. Each node checks its vertices against a search of the whole graph.
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common.hpp"

namespace {

namespace rmi = margay::rmi;

constexpr std::size_t kNone = ~std::size_t{0};

// A vertex: its neighbours, and the vertex from which the search came; the root's is itself.
struct Vertex {
  std::vector<std::size_t> neighbours;
  std::size_t parent = kNone;
  void define_type(rmi::typer& type) { type.local(neighbours, parent); }
};

// The neighbours of a vertex in a random graph, from which some vertices cannot be reached.
std::vector<std::size_t> neighbours_of(std::size_t vertex, std::size_t vertices) {
  std::vector<std::size_t> neighbours;
  const std::uint64_t edges = example::random_number(vertex) % 4;
  for (std::uint64_t edge = 0; edge < edges; ++edge)
    neighbours.push_back(example::random_number(vertex * 4 + edge) % vertices);
  return neighbours;
}

class DepthFirst : public rmi::parallel_task {
 public:
  DepthFirst(rmi::pvector<Vertex>& graph, std::size_t root) : graph_(graph), root_(root) {}

  void execute() override {
    if (graph_.parts().find(root_).node == rmi::get_node_id()) search(root_, root_);
    // execute_parallel_task() ends with a fence.
  }

 private:
  // Visits a vertex of this node and, from there, all of this node that it leads to. A stack instead of recursion: the
  // depth may be that of the graph.
  void search(std::size_t vertex, std::size_t parent) {
    const int me = rmi::get_node_id();
    std::vector<rmi::location> stack;
    const auto visit = [&](rmi::location at, std::size_t from) {
      std::size_t& known = graph_.local()[at.offset].parent;
      if (known != kNone) return;
      known = from;
      stack.push_back(at);
    };
    visit(graph_.parts().find(vertex), parent);
    const std::size_t first = graph_.parts().part_of(me).first;
    while (!stack.empty()) {
      const std::size_t offset = stack.back().offset;
      stack.pop_back();
      for (const std::size_t neighbour : graph_.local()[offset].neighbours) {
        const rmi::location at = graph_.parts().find(neighbour);
        if (at.node == me)
          visit(at, first + offset);
        else
          rmi::async_rmi(at.node, this, rmi::method<&DepthFirst::search>, neighbour, first + offset);
      }
    }
  }

  rmi::pvector<Vertex>& graph_;
  std::size_t root_;
};

// Whether this node's vertices are those that a search of the whole graph visits, each by an edge from a visited one.
bool is_right(rmi::pvector<Vertex>& graph, std::size_t root) {
  std::vector<char> visited(graph.size());
  std::vector<std::size_t> stack{root};
  visited[root] = 1;
  while (!stack.empty()) {
    const std::size_t vertex = stack.back();
    stack.pop_back();
    for (const std::size_t neighbour : neighbours_of(vertex, graph.size())) {
      if (visited[neighbour] != 0) continue;
      visited[neighbour] = 1;
      stack.push_back(neighbour);
    }
  }
  std::size_t vertex = graph.parts().part_of(rmi::get_node_id()).first;
  for (const Vertex& found : graph.local()) {
    if ((found.parent != kNone) != (visited[vertex] != 0)) return false;
    if (found.parent != kNone && vertex != root) {
      const std::vector<std::size_t> edges = neighbours_of(found.parent, graph.size());
      if (visited[found.parent] == 0 || std::find(edges.begin(), edges.end(), vertex) == edges.end()) return false;
    }
    ++vertex;
  }
  return true;
}

struct Count {
  rmi::pvector<Vertex>& graph;
  std::size_t root;
  // Vertices visited on this node, and 1 if one of them is wrong.
  void take(const int& /*nothing*/, std::pair<std::size_t, int>& part) {
    for (const Vertex& vertex : graph.local()) part.first += vertex.parent != kNone ? 1 : 0;
    part.second = is_right(graph, root) ? 0 : 1;
  }
};

int program(int argc, char** argv) {
  const std::size_t vertices = std::max<std::size_t>(example::argument(argc, argv, 1, 100000), 1);
  const std::size_t turns = example::argument(argc, argv, 2, 1);
  // One with neighbours.
  std::size_t root = 0;
  while (root + 1 < vertices && neighbours_of(root, vertices).size() < 2) ++root;
  rmi::pvector<Vertex> graph(vertices);
  std::size_t vertex = graph.parts().part_of(rmi::get_node_id()).first;
  for (Vertex& mine : graph.local()) mine.neighbours = neighbours_of(vertex++, vertices);

  double best = 1e9;
  std::pair<std::size_t, int> visited;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (Vertex& mine : graph.local()) mine.parent = kNone;
    rmi::rmi_fence();
    const example::Clock clock;
    DepthFirst search(graph, root);
    rmi::execute_parallel_task(&search);
    best = std::min(best, clock.seconds());
  }
  Count count{graph, root};
  rmi::collect_rmi(&count, &Count::take, 0, visited,
                   [](auto one, auto other) { return std::pair(one.first + other.first, one.second + other.second); });
  if (rmi::get_node_id() == 0)
    example::report("depth_first", rmi::get_num_nodes(), visited.first, best, visited.second == 0);
  return visited.second == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
