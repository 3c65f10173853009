// A cursor over a layout. From any byte on it yields the runs, as many equal runs at once as possible. It uses no
// recursion, and allocates nothing for types nested up to eight deep.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi_adi/datatype/layout.hpp"

namespace margay::mpi_adi {

// A strip: `count` runs of `bytes` bytes each. They begin at `base`, `stride` apart, or at `offsets` from `base`. With
// `entries`, the runs have any length, and begin at the entries' offsets from `base`. Addresses are integers, because a
// base may be 0 (MPI_BOTTOM), and no pointer may be formed outside of an object.
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

// The cursor. Each copy makes one on the stack, with 8 frames of 24 bytes, which costs little.
//
//   LayoutWalker walker(*layout.node, base + layout.offset, at);
//   for (std::uint64_t left = bytes; left != 0; left -= strip.total) strip = walker.take(left);
class LayoutWalker {
 public:
  // Starts at data byte `at`. Requires: at < root.size; `root` outlives the walker.
  LayoutWalker(const LayoutNode& root, std::uintptr_t base, std::uint64_t at);
  // Yields the next runs, at most `limit` bytes, and moves past them. A cut run is yielded as a strip of its own.
  // Requires: limit > 0, and bytes are left.
  [[nodiscard]] Strip take(std::uint64_t limit);
  // The remainder of the current run. The cursor does not move.
  [[nodiscard]] Strip run() const;

 private:
  // A node on the path down to the current run, its address, and the present iteration or entry.
  struct Frame {
    const LayoutNode* node;
    std::uintptr_t base;
    // The present iteration, block or entry; 0 for a run.
    std::uint64_t index;
  };
  static constexpr std::size_t kInlineFrames = 8;
  // Describes the remainder of the current run in `strip`.
  void put_run(Strip& strip) const;
  // Pushes the path from `node` down to its data byte `at`.
  void descend(const LayoutNode* node, std::uintptr_t base, std::uint64_t at);
  // The same for the node's first run.
  void first_of(const LayoutNode* node, std::uintptr_t base);
  // Moves past `runs` whole runs of the top node.
  void passed_run(Frame& top, std::uint64_t runs);
  // Leaves the top node, which has no more runs.
  void climb();
  // Yields whole runs of a table as one strip. False: not even one run fits.
  [[nodiscard]] bool take_entries(Frame& top, std::uint64_t limit, Strip& strip);
  void push(const LayoutNode* node, std::uintptr_t base, std::uint64_t index) { frames_[++top_] = {node, base, index}; }

  // The stack of frames: inline, or allocated for deeper types.
  Frame inline_[kInlineFrames];
  std::unique_ptr<Frame[]> deep_;
  Frame* frames_;
  std::ptrdiff_t top_ = -1;
  std::uint64_t in_run_ = 0;  // bytes of the current run that were yielded
};

}  // namespace margay::mpi_adi
