// The paper's sample sort by RMI (paper 004, section 4, third listing), in its namespace and with its names:
//
//   margay run -n 4 sample_sort [INTEGERS [TURNS]]
//
// Lines that differ from the listing are marked "corrected". sample_sort_threads.cpp and sample_sort_messages.cpp are
// the other two listings.
#define MARGAY_RMI_STAPL
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <vector>

#include "common.hpp"

namespace {

using std::sort;
using std::vector;

// STAPL sample sort
struct p_sort : public stapl::parallel_task {
  int *input, size;
  vector<int> sorted;  // not in the listing, whose result ends with its buckets
  p_sort(int* i, int s) : input(i), size(s) {}

  void execute() override {
    int p = stapl::get_num_nodes();
    int id = stapl::get_node_id();
    stapl::pvector<int> globalSplitters(p);  // corrected: p samples, because each id writes one; not p - 1
    stapl::pvector<vector<int>> buckets(p);

    globalSplitters[id] = example::sample_of({input, static_cast<std::size_t>(size)}, id, p);
    stapl::rmi_fence();  // corrected: all samples are written before any node reads them
    std::vector<int> splitters(globalSplitters);
    sort(splitters.begin(), splitters.end());  // corrected: in order
    splitters.pop_back();                      // corrected: p - 1 splitters separate p buckets

    for (int i = 0; i < size; i++) {
      int dest = static_cast<int>(std::upper_bound(splitters.begin(), splitters.end(), input[i]) - splitters.begin());
      // Corrected: the class of the method has its argument, and `dest` names the sub-vector as well as the node.
      stapl::async_rmi(dest, &buckets, &stapl::pvector<vector<int>>::push_back, dest, input[i]);
    }
    stapl::rmi_fence();

    vector<int>& bucket = buckets.local()[0];  // corrected: the node's own sub-vector; its index is id
    sort(bucket.begin(), bucket.end());
    sorted.swap(bucket);
  }
};

struct Checked {
  const vector<int>&input, &output;
  void input_summary(const int& /*nothing*/, example::Summary& part) { part = example::summary_of(input); }
  void output_summary(const int& /*nothing*/, example::Summary& part) { part = example::summary_of(output); }
};

int program(int argc, char** argv) {
  const std::size_t integers = example::argument(argc, argv, 1, 1000000);
  const std::size_t turns = example::argument(argc, argv, 2, 1);
  const int me = stapl::get_node_id(), nodes = stapl::get_num_nodes();
  vector<int> input;
  for (std::size_t i = example::first_of(integers, me, nodes); i < example::first_of(integers, me + 1, nodes); ++i)
    input.push_back(example::random_integer(i));

  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    p_sort task(input.data(), static_cast<int>(input.size()));
    stapl::rmi_fence();
    const example::Clock clock;
    stapl::execute_parallel_task(&task);
    best = std::min(best, clock.seconds());
    Checked checked{input, task.sorted};
    example::Summary before, after;
    stapl::collect_rmi(&checked, &Checked::input_summary, 0, before, example::combined);
    stapl::collect_rmi(&checked, &Checked::output_summary, 0, after, example::combined);
    right = right && example::is_sorted_input(before, after);
  }
  if (me == 0) example::report("sample_sort", nodes, integers, best, right);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return stapl::run(argc, argv, program);
}
