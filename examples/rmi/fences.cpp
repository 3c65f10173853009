// Fences by each tree, in turns with the explicit program's barrier and sum (paper 004, section 7.2):
//
//   margay run -n 1 --threads 4 fences_beside_threads [REPEATS [CALLS]]               figure 4
//   margay run -n 4 fences_beside_mpi [REPEATS [CALLS]]                               figure 5
//
// Prints measure.hpp's lines, with the number of nodes; fails if a fence ends before a request.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "by_hand.hpp"
#include "measure.hpp"

namespace {

namespace rmi = margay::rmi;

struct Fence {
  const char* name;
  rmi::Tree tree;
};
constexpr std::array<Fence, 6> kFences{{{"flat", rmi::Tree::flat},
                                        {"binary", rmi::Tree::binary},
                                        {"hypercube", rmi::Tree::hypercube},
                                        {"exchange", rmi::Tree::exchange},
                                        {"central", rmi::Tree::central},
                                        {"mcs", rmi::Tree::mcs}}};

struct Counter {
  std::uint64_t total = 0;
  void add() { ++total; }
};

// Each node's request is executed when the fence ends.
void check(Counter& counter, rmi::Tree tree) {
  const std::uint64_t before = counter.total;
  rmi::rmi_fence();
  rmi::async_rmi((rmi::get_node_id() + 1) % rmi::get_num_nodes(), &counter, &Counter::add);
  rmi::rmi_fence(tree);
  if (counter.total != before + 1) throw std::runtime_error("a fence ended before its requests were executed");
}

int program(int argc, char** argv) {
  const int repeats = example::count_argument(argc, argv, 1, 11);
  const int calls = example::count_argument(argc, argv, 2, 1000);
  const int nodes = rmi::get_num_nodes();
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const by_hand::Barrier& barrier : by_hand::barriers()) {
      example::measure(barrier.name, nodes, calls, [&] {
        for (int i = 0; i < calls; ++i) barrier.pass();
      });
    }
    for (const Fence& fence : kFences) {
      if (rmi::is_of_threads(fence.tree) && !by_hand::is_by_threads()) continue;
      check(counter, fence.tree);
      example::measure("fence " + std::string(fence.name), nodes, calls, [&] {
        for (int i = 0; i < calls; ++i) rmi::rmi_fence(fence.tree);
      });
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return by_hand::run(argc, argv, program);
}
