// The paper's sample sort (section 4) with its names: rmi_sample_sort [INTEGERS of a node]. Lines that differ from the
// listing are marked "corrected": it indexes p - 1 splitters by p ids, and copies the splitters without a fence after
// their writing. The two pvectors, of a higher layer, are members here.
#define MARGAY_RMI_STAPL
#include <margay/rmi.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

struct p_sort : public stapl::parallel_task {
  int *input, size;
  std::vector<int> global_splitters, bucket;
  p_sort(int* i, int s) : input(i), size(s) {}

  void set_splitter(int id, int value) { global_splitters[static_cast<std::size_t>(id)] = value; }
  void push_back(int x) { bucket.push_back(x); }

  void execute() override {
    int p = stapl::get_num_nodes();
    int id = stapl::get_node_id();
    global_splitters.resize(static_cast<std::size_t>(p));  // corrected: p, not p - 1
    stapl::rmi_fence();                                    // corrected: all have room before any writes

    stapl::broadcast_rmi(this, &p_sort::set_splitter, id, input[0]);
    stapl::rmi_fence();  // corrected: all splitters are written
    std::vector<int> splitters(global_splitters);
    std::sort(splitters.begin(), splitters.end());
    splitters.pop_back();  // corrected: p - 1 splitters separate p buckets

    for (int i = 0; i < size; i++) {
      int dest = static_cast<int>(std::upper_bound(splitters.begin(), splitters.end(), input[i]) - splitters.begin());
      stapl::async_rmi(dest, this, &p_sort::push_back, input[i]);
    }
    stapl::rmi_fence();

    std::sort(bucket.begin(), bucket.end());
  }
};

// What the check compares: least and greatest element, count, sum.
struct Part {
  std::vector<long> ends;  // least and greatest of each node that has any, in order
  long count = 0, sum = 0;
  void define_type(stapl::typer& type) { type.local(ends), type.local(count), type.local(sum); }
};

struct Check {
  p_sort& sorted;
  void describe(const int& /*nothing*/, Part& part) {
    for (const int x : sorted.bucket) part.sum += x;
    part.count = static_cast<long>(sorted.bucket.size());
    if (part.count != 0) part.ends = {sorted.bucket.front(), sorted.bucket.back()};
  }
};

int program(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::vector<int> input(static_cast<std::size_t>(size));
  std::mt19937 random(static_cast<unsigned>(stapl::get_node_id()));
  long sum = 0;
  for (int& x : input) sum += x = static_cast<int>(random() >> 1);
  p_sort sort(input.data(), size);
  stapl::execute_parallel_task(&sort);

  Check check{sort};
  Part whole;
  stapl::collect_rmi(&check, &Check::describe, 0, whole, [](Part one, const Part& other) {
    one.ends.insert(one.ends.end(), other.ends.begin(), other.ends.end());
    one.count += other.count;
    one.sum += other.sum;
    return one;
  });
  struct Sum {
    long value;
    void get(const int& /*nothing*/, long& part) { part = value; }
  } input_sum{sum};
  long all = 0;
  stapl::collect_rmi(&input_sum, &Sum::get, 0, all);
  const bool right = std::is_sorted(whole.ends.begin(), whole.ends.end()) && all == whole.sum &&
                     whole.count == static_cast<long>(size) * stapl::get_num_nodes() &&
                     std::is_sorted(sort.bucket.begin(), sort.bucket.end());
  if (stapl::get_node_id() == 0) std::printf("sorted %ld integers: %s\n", whole.count, right ? "right" : "wrong");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return stapl::run(argc, argv, program);
}
