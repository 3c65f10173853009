// The inner product of STAPL (paper 004, section 7.3): "each processor uses the sequential algorithm to compute its
// local contribution, then applies a global reduction to combine the results. STAPL uses collect_rmi".
#pragma once

#include <cstddef>
#include <numeric>

#include "margay/rmi/stapl/prange.hpp"

namespace margay::rmi {

namespace detail {

// The computation of one node; it lives for one p_inner_product().
template <class One, class Other, class Result>
class InnerProductTask final : public parallel_task {
 public:
  InnerProductTask(const One& one, const Other& other, Result initial) : one_(one), other_(other), initial_(initial) {}

  // `initial` is added once, on each node to the same sum, so that the result is the same everywhere.
  void execute() override {
    Result sum{};
    collect_rmi(this, &InnerProductTask::multiply, 0, sum);
    result_ = initial_ + sum;
  }
  [[nodiscard]] const Result& result() const { return result_; }

 private:
  // This node's part, by the sequential algorithm, from a value-initialised Result.
  void multiply(const int& /*nothing*/, Result& part) {
    const auto one = one_.local(), other = other_.local();
    part = std::inner_product(one.begin(), one.end(), other.begin(), Result{});
  }

  const One one_;
  const Other other_;
  Result initial_, result_{};
};

}  // namespace detail

// `initial` plus the sum of the products of elements, the same on all nodes. Collective, outside of a method; `initial`
// is equal on all nodes. A fence before it completes updates of elements.
//
// `Result`: the type of the sum, as in std::inner_product; able to travel, and with a value-initialised object that is
// zero. Parts are added in the order of nodes, so for given elements the rounding of a floating-point sum depends on
// the number of nodes only.
//
// Messages: a registration, one collect_rmi, one fence; no request for an element. The ranges have the same elements on
// each node, as two whole pvectors of one size have; otherwise throws `error` before anything is sent.
template <class One, class Other, class Result>
[[nodiscard]] Result p_inner_product(const pRange<One>& one, const pRange<Other>& other, Result initial) {
  if (one.first() != other.first() || one.size() != other.size() || one.container().size() != other.container().size())
    fail("p_inner_product: the ranges differ in their indices or in the sizes of their containers");
  detail::InnerProductTask task(one, other, initial);
  execute_parallel_task(&task);
  return task.result();
}
// The same for all elements of two pvectors.
template <class One, class Other, class Result>
[[nodiscard]] Result p_inner_product(const pvector<One>& one, const pvector<Other>& other, Result initial) {
  return p_inner_product(pRange(one), pRange(other), initial);
}

}  // namespace margay::rmi
