// The inner product of a distributed vector with itself (paper 004, section 7.3, tables 2 and 3):
//
//   margay run -n 4 inner_product [ELEMENTS [TURNS]]
//
// inner_product_mpi.cpp and inner_product_threads.cpp are the explicit programs.
#include <margay/rmi/stapl.hpp>

#include <algorithm>

#include "common.hpp"

namespace {

namespace rmi = margay::rmi;

int program(int argc, char** argv) {
  const std::size_t elements = example::argument(argc, argv, 1, 1000000);
  const std::size_t turns = example::argument(argc, argv, 2, 1);
  rmi::pvector<double> values(elements);
  std::size_t index = rmi::pRange(values)[rmi::get_node_id()].first;
  for (double& value : values.local()) value = example::small_number(index++);

  double best = 1e9, product = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    rmi::rmi_fence();
    const example::Clock clock;
    product = rmi::p_inner_product(values, values, 0.0);
    best = std::min(best, clock.seconds());
  }
  const bool right = product == example::product_of_small_numbers(elements);
  if (rmi::get_node_id() == 0) example::report("inner_product", rmi::get_num_nodes(), elements, best, right);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
