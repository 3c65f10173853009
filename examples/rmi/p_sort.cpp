// A distributed vector, sorted by one call (paper 004, sections 4 and 7.3, figures 6 and 7):
//
//   margay run -n 4 p_sort ranges|elements [INTEGERS [TURNS]]
//
// `elements` sends a request for each element, as the paper's listing; `ranges` one for each pair of nodes.
// sort_mpi.cpp is a sort written by hand with MPI.
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include "common.hpp"

namespace {

namespace rmi = margay::rmi;

struct Summaries {
  rmi::pvector<int>& values;
  void take(const int& /*nothing*/, example::Summary& part) { part = example::summary_of(values.local()); }
};

// Of the whole vector, the same on all nodes.
example::Summary summary_of(rmi::pvector<int>& values) {
  Summaries summaries{values};
  example::Summary all;
  rmi::collect_rmi(&summaries, &Summaries::take, 0, all, example::combined);
  return all;
}

int program(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "ranges";
  if (how != "ranges" && how != "elements") {
    std::fprintf(stderr, "usage: p_sort ranges|elements [INTEGERS [TURNS]]\n");
    return 2;
  }
  const std::size_t integers = example::argument(argc, argv, 2, 1000000);
  const std::size_t turns = example::argument(argc, argv, 3, 1);
  rmi::pvector<int> values(integers);

  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::size_t index = rmi::pRange(values)[rmi::get_node_id()].first;
    for (int& value : values.local()) value = example::random_integer(index++);
    const example::Summary before = summary_of(values);
    rmi::rmi_fence();
    const example::Clock clock;
    rmi::p_sort(values, how == "ranges" ? rmi::transfer::ranges : rmi::transfer::elements);
    best = std::min(best, clock.seconds());
    right = right && example::is_sorted_input(before, summary_of(values));
  }
  if (rmi::get_node_id() == 0) example::report(("p_sort " + how).c_str(), rmi::get_num_nodes(), integers, best, right);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
