// A cursor over elements laid out alike: from any byte on, it yields runs, as many equal ones at once as it can. No
// recursion and, for types nested up to eight deep, no allocation.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi_adi/datatype/layout.hpp"

namespace margay::mpi_adi {

// `count` runs of `bytes` each: `stride` apart, or, with `offsets`, at those from `base`. With `entries`: runs of any
// length, where these say, from `base`. Addresses are integers: a base may be null, and places far from any object of
// ours are only reached when bytes are.
struct Strip {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  const std::int64_t* offsets = nullptr;
  const LayoutNode::Entry* entries = nullptr;
  std::uint64_t total = 0;  // bytes of all runs
  int leaf = 0;
};

class LayoutWalker {
 public:
  // Stands `at` bytes in. Requires: at < root.size; root outlives the walker.
  LayoutWalker(const LayoutNode& root, std::uintptr_t base, std::uint64_t at);
  // The next runs, `limit` bytes at most, and moves past them. Only a single run is ever cut. Requires: limit > 0, and
  // bytes are left.
  [[nodiscard]] Strip take(std::uint64_t limit);
  // What is left of the run that the walker stands in. Does not move.
  [[nodiscard]] Strip run() const;

 private:
  struct Frame {
    const LayoutNode* node;
    std::uintptr_t base;
    std::uint64_t index;
  };
  static constexpr std::size_t kInlineFrames = 8;
  void put_run(Strip& strip) const;
  void descend(const LayoutNode* node, std::uintptr_t base, std::uint64_t at);
  void first_of(const LayoutNode* node, std::uintptr_t base);
  void passed_run(Frame& top, std::uint64_t runs);
  void climb();
  [[nodiscard]] bool take_entries(Frame& top, std::uint64_t limit, Strip& strip);
  void push(const LayoutNode* node, std::uintptr_t base, std::uint64_t index) { frames_[++top_] = {node, base, index}; }

  Frame inline_[kInlineFrames];
  std::unique_ptr<Frame[]> deep_;
  Frame* frames_;
  std::ptrdiff_t top_ = -1;
  std::uint64_t in_run_ = 0;  // bytes of the current run that are passed
};

}  // namespace margay::mpi_adi
