// The search of STAPL (paper 004, section 5.3): "each node searches its local data for an element. Since multiple nodes
// may find a match, a reduction is used to combine the results (i.e., node 0's result has precedence over node 1's,
// etc.)".
//
//   const std::optional<std::size_t> found = p_find(values, 4);       // collective; the same index on all nodes
//   if (found && get_node_id() == 0) values[*found] = 5;
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "margay/rmi/collective.hpp"
#include "margay/rmi/run.hpp"
#include "margay/rmi/stapl/prange.hpp"
#include "margay/rmi/task.hpp"

namespace margay::rmi {

namespace detail {

// The search of one node. An object of its own, because collect_rmi calls a method; it lives for one p_find().
template <class Range>
class FindTask final : public parallel_task {
 public:
  using T = typename Range::value_type;
  FindTask(const Range& range, const T& value) : range_(range), value_(value) {}

  // The lower node's match wins: parts are combined in the order of nodes.
  void execute() override {
    collect_rmi(this, &FindTask::search, value_, found_,
                [](std::optional<std::size_t> one, std::optional<std::size_t> other) { return one ? one : other; });
  }
  [[nodiscard]] std::optional<std::size_t> found() const { return found_; }

 private:
  // The first match in this node's part, as an index of the container.
  void search(const T& value, std::optional<std::size_t>& match) {
    const auto mine = range_.local();
    const auto at = std::find(mine.begin(), mine.end(), value);
    if (at != mine.end()) match = range_[get_node_id()].first + static_cast<std::size_t>(at - mine.begin());
  }

  const Range range_;
  // The argument of p_find(), which is valid until that returns.
  const T& value_;
  std::optional<std::size_t> found_;
};

}  // namespace detail

// The index of the first element of the range that equals `value`, or nothing; the same on all nodes, as parts are in
// the order of nodes. Collective, outside of a method: all nodes give the same range and value. A fence before it
// completes updates of elements. Requires: an operator== of the elements that changes nothing.
//
// Time: each node searches its part, and no node stops early because another one has found something. Messages: a
// registration, one collect_rmi, one fence; no request for an element. Throws `remote_error` on all nodes if a
// comparison throws.
template <class Container>
[[nodiscard]] std::optional<std::size_t> p_find(const pRange<Container>& range,
                                                const typename pRange<Container>::value_type& value) {
  detail::FindTask task(range, value);
  execute_parallel_task(&task);
  return task.found();
}
// The same in all elements of a pvector. `value` converts to its element type.
template <class T>
[[nodiscard]] std::optional<std::size_t> p_find(const pvector<T>& values, const std::type_identity_t<T>& value) {
  return p_find(pRange(values), value);
}

}  // namespace margay::rmi
