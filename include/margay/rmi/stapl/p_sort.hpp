// The sample sort of STAPL (paper 004, section 4): samples of all nodes give the splitters between the nodes' buckets,
// each element travels to its bucket, and each node sorts its bucket. Then, beyond the paper's listing, the buckets are
// written to the range, so that parts keep their sizes.
//
//   p_sort(values);                                            // all elements of a pvector, ascending
//   p_sort(values, transfer::elements, std::greater<>());      // descending; a request for each moved element
//   p_sort(pRange(values, 0, 100));                            // the first 100 elements
//
// The phases, for n elements on p nodes:
//   1. with `ranges`, each node sorts its n / p elements
//   2. samples of all nodes, in one collection; each node sorts them and finds the same p - 1 splitters
//   3. elements travel to their buckets; a fence
//   4. each node sorts its bucket, or with `ranges` merges p sorted ranges in about log2(p) passes
//   5. the sizes of the buckets, in one collection; each node writes its bucket behind those of lower nodes
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "margay/rmi/call.hpp"
#include "margay/rmi/collective.hpp"
#include "margay/rmi/run.hpp"
#include "margay/rmi/stapl/prange.hpp"
#include "margay/rmi/synchronize.hpp"
#include "margay/rmi/task.hpp"

namespace margay::rmi {

// How p_sort() moves elements to their buckets. `elements`: as the paper's listing, one request for each, which RMI
// gathers in buffers. `ranges`: sorts first, so that the elements for one node are one range, and one request.
enum class transfer : std::uint8_t { ranges, elements };

namespace detail {

// The sort of one node. Its methods are called by requests of other nodes, so it is registered; it lives for one
// p_sort(). Phases are separated by fences and collections: no element arrives after the bucket is sorted.
template <class T, class Compare>
class SortTask final : public parallel_task {
 public:
  using Range = pRange<pvector<T>>;
  SortTask(const Range& range, transfer by, const Compare& compare) : range_(range), by_(by), compare_(compare) {}

  // The phases of the file's head. All nodes have the same range, so they agree on whether it is empty.
  void execute() override {
    if (range_.size() == 0) return;
    const std::span<T> mine = range_.local();
    // The bucket may be changed here: no node sends elements before this node has contributed to the splitters.
    if (by_ == transfer::ranges)
      std::sort(mine.begin(), mine.end(), compare_);
    else
      bucket_.reserve(mine.size());
    const std::vector<T> splitters = find_splitters(mine);
    if (by_ == transfer::ranges)
      send_ranges(mine, splitters);
    else
      send_elements(mine, splitters);
    write_bucket();
  }

 private:
  // Samples of a part of mean size. More of them give buckets of more equal sizes, and cost memory and messages: each
  // node gets those of all.
  static constexpr std::size_t kSamples = 256;

  // The greatest element of each bucket but the last, the same on all nodes: p - 1 of them.
  std::vector<T> find_splitters(std::span<const T> mine) {
    std::vector<T> all;
    collect_rmi(this, &SortTask::take_samples, mine, all, [](std::vector<T> one, std::vector<T> other) {
      one.insert(one.end(), std::move_iterator(other.begin()), std::move_iterator(other.end()));
      return one;
    });
    std::sort(all.begin(), all.end(), compare_);
    const auto nodes = static_cast<std::size_t>(range_.num_parts());
    std::vector<T> splitters;
    for (std::size_t node = 1; node < nodes; ++node) splitters.push_back(all[node * all.size() / nodes]);
    return splitters;
  }
  // Evenly spaced elements, as many as the part's share.
  void take_samples(const std::span<const T>& mine, std::vector<T>& samples) {
    if (mine.empty()) return;
    const auto nodes = static_cast<std::size_t>(range_.num_parts());
    const double share = static_cast<double>(mine.size()) / static_cast<double>(range_.size());
    const auto count =
        std::min(mine.size(), static_cast<std::size_t>(share * static_cast<double>(kSamples * nodes)) + 1);
    for (std::size_t i = 0; i < count; ++i) samples.push_back(mine[i * mine.size() / count]);
  }

  // As the paper's listing: one request for each element of another node's bucket. The fence ends the requests, and the
  // bucket is complete.
  void send_elements(std::span<const T> mine, const std::vector<T>& splitters) {
    const int me = get_node_id();
    // This node's elements of its own bucket: kept apart, because a communication thread may append to the bucket.
    std::vector<T> kept;
    for (const T& element : mine) {
      const auto border = std::lower_bound(splitters.begin(), splitters.end(), element, compare_);
      const auto node = static_cast<int>(border - splitters.begin());
      if (node == me)
        kept.push_back(element);
      else
        async_rmi(node, this, method<&SortTask::push_back>, element);
    }
    rmi_fence();
    bucket_.insert(bucket_.end(), std::move_iterator(kept.begin()), std::move_iterator(kept.end()));
    std::sort(bucket_.begin(), bucket_.end(), compare_);
  }
  // The method of these requests. The monitor of the task is all the exclusion that it needs (paper, 4).
  void push_back(const T& element) { bucket_.push_back(element); }

  // One request for each other node that gets elements. `mine` is sorted, so that a bucket's elements are one range.
  // The own range is kept back until the fence, because it needs no copy in a request.
  void send_ranges(std::span<const T> mine, const std::vector<T>& splitters) {
    const int me = get_node_id();
    const int nodes = range_.num_parts();
    std::span<const T> kept;
    auto begin = mine.begin();
    for (int node = 0; node < nodes; ++node) {
      const auto end = node + 1 == nodes
                           ? mine.end()
                           : std::upper_bound(begin, mine.end(), splitters[static_cast<std::size_t>(node)], compare_);
      const std::span<const T> theirs(begin, end);
      begin = end;
      if (node == me)
        kept = theirs;
      else if (!theirs.empty())
        async_rmi(node, this, method<&SortTask::take_range>, theirs);
    }
    rmi_fence();
    take_range(kept);
    merge_ranges();
  }
  // Appends a sorted range, in the order of arrival, and notes where it ends.
  void take_range(std::span<const T> sorted) {
    bucket_.insert(bucket_.end(), sorted.begin(), sorted.end());
    ends_.push_back(bucket_.size());
  }
  // Merges the sorted ranges of the bucket, two at a time.
  void merge_ranges() {
    const auto at = [this](std::size_t offset) { return bucket_.begin() + static_cast<std::ptrdiff_t>(offset); };
    while (ends_.size() > 1) {
      std::vector<std::size_t> merged;
      std::size_t begin = 0;
      for (std::size_t i = 0; i < ends_.size(); i += 2) {
        const std::size_t end = ends_[std::min(i + 1, ends_.size() - 1)];
        std::inplace_merge(at(begin), at(ends_[i]), at(end), compare_);
        merged.push_back(begin = end);
      }
      ends_.swap(merged);
    }
  }

  // The bucket goes behind those of lower nodes. No node reads its part of the range any more: each has taken part in
  // this collection after its last use.
  void write_bucket() {
    std::vector<std::size_t> sizes;
    collect_rmi(this, &SortTask::take_size, 0, sizes, [](std::vector<std::size_t> one, std::vector<std::size_t> other) {
      one.insert(one.end(), other.begin(), other.end());
      return one;
    });
    const std::size_t before = std::accumulate(sizes.begin(), sizes.begin() + get_node_id(), std::size_t{0});
    range_.container().write(range_.first() + before, bucket_);
  }
  // The method of the collection: makes a list of one size. Combined in the order of nodes, the lists are concatenated.
  void take_size(const int& /*nothing*/, std::vector<std::size_t>& sizes) { sizes.push_back(bucket_.size()); }

  const Range range_;
  const transfer by_;
  const Compare compare_;
  // The elements of this node's bucket, in the order of arrival until phase 4.
  std::vector<T> bucket_;
  // With transfer::ranges: the ends of the sorted ranges in the bucket.
  std::vector<std::size_t> ends_;
};

}  // namespace detail

// Sorts the range in place; on return each node's part is sorted, and behind those of lower nodes. Collective, outside
// of a method: all nodes give the same range, `by`, and an equal comparison, which must not throw. A fence before it
// completes updates of elements. Equal elements may change their order; they share one bucket, so that a range of few
// values is sorted by few nodes.
//
// Messages: a registration, two collections, two fences; between them, with `ranges` at most one request from each node
// to each other one, with `elements` one for each element that changes its node; then one request for each overlap of a
// bucket with a part of another node. Memory on each node: a copy of its bucket, the room of a merge, and about 256
// samples for each node of the job.
template <class T, class Compare = std::less<>>
void p_sort(const pRange<pvector<T>>& range, transfer by = transfer::ranges, Compare compare = {}) {
  detail::SortTask task(range, by, compare);
  execute_parallel_task(&task);
}
// The same for all elements of a pvector.
template <class T, class Compare = std::less<>>
void p_sort(pvector<T>& values, transfer by = transfer::ranges, Compare compare = {}) {
  p_sort(pRange(values), by, compare);
}

}  // namespace margay::rmi
