// Programs with a mistake that ends the job: rmi_mistakes CASE [WORD...]. None may wait forever or crash.
//   trees LATE TREE...    one fence by a tree of its own on each node; node LATE, if any, arrives last
//   exit                  node 1 calls exit(5) instead of stop()
//   exit_in_method        a method on node 1 calls it
//   exit_beside_method    node 1 calls it beside a method of its communication thread that never returns
#include <margay/rmi.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace rmi = margay::rmi;

namespace {

using rmi::async_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence, rmi::rmi_object, rmi::rmi_poll;

constexpr int kStatus = 5;

struct Target {
  int arrived = 0;
  std::atomic<bool> in_method = false;
  void arrive() { ++arrived; }
  void leave() { std::exit(kStatus); }
  void stay() {
    in_method = true;
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

rmi::Tree tree_of(const std::string& name) {
  constexpr std::array<const char*, 6> kNames{"flat", "binary", "hypercube", "exchange", "central", "mcs"};
  return static_cast<rmi::Tree>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

// Messages of the other nodes for this fence are on the late node before it arrives, or arrive afterwards.
void trees(Target& target, const std::vector<std::string>& words) {
  const int me = get_node_id(), late = std::stoi(words.at(0));
  if (me == late) {
    while (target.arrived != get_num_nodes() - 1) rmi_poll();
    for (int i = 0; i < 1000; ++i) rmi_poll();
  } else if (late >= 0) {
    async_rmi(late, &target, &Target::arrive);
  }
  rmi_fence(tree_of(words.at(static_cast<std::size_t>(me) + 1)));
}

void leave(Target& target, const std::string& name) {
  const int me = get_node_id();
  if (name == "exit" && me == 1) std::exit(kStatus);
  if (name == "exit_in_method" && me == 0) async_rmi(1, &target, &Target::leave);
  if (name == "exit_beside_method") {
    if (me == 0) {
      async_rmi(1, &target, &Target::stay);
      rmi_poll();
    }
    if (me == 1) {
      while (!target.in_method) std::this_thread::yield();
      std::exit(kStatus);
    }
  }
  rmi_fence();
}

int program(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Target target;
  const rmi_object<Target> handle(target);
  if (words.at(0) == "trees")
    trees(target, {words.begin() + 1, words.end()});
  else
    leave(target, words.at(0));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
