// Calls of RMI between all nodes: each case prints one line on node 0, or throws.
#include <margay/rmi.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace rmi = margay::rmi;

namespace {

void need(bool holds, const char* what) {
  if (!holds) rmi::fail(std::string("the test expects: ") + what);
}

struct Counter {
  int total = 0;
  int latest = -1;
  void add(int x) { total += x, latest = x; }
  int get() const { return total; }
};

// Each node adds 1 to `count` to each node's counter.
void statements(int count) {
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  const int nodes = rmi::get_num_nodes();
  for (int i = 1; i <= count; ++i) {
    for (int node = 0; node < nodes; ++node) rmi::async_rmi(node, &counter, &Counter::add, i);
  }
  rmi::rmi_fence();
  need(counter.total == nodes * (count * (count + 1) / 2), "all additions are there after the fence");
  need(counter.latest == (count == 0 ? -1 : count), "the last addition of a node is its last one");
}

int program(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "statements";
  if (name == "statements") {
    for (const int count : {0, 1, 100, 5000}) statements(count);
  }
  if (rmi::get_node_id() == 0) std::printf("%s: right\n", std::string(name).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
