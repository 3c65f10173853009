#include "mpi_adi/datatype/walker.hpp"

#include <algorithm>

namespace margay::mpi_adi {

namespace {

using Kind = LayoutNode::Kind;
using Entry = LayoutNode::Entry;

// Sums of addresses wrap round modulo 2^64, so negative offsets need no special case.
std::uintptr_t moved(std::uintptr_t base, std::int64_t by) {
  return base + static_cast<std::uintptr_t>(by);
}

std::uintptr_t moved(std::uintptr_t base, std::uint64_t index, std::int64_t stride) {
  return base + static_cast<std::uintptr_t>(index) * static_cast<std::uintptr_t>(stride);
}

// The entry that contains data byte `at`: the last entry that begins at or before that byte.
std::uint64_t entry_at(const LayoutNode& table, std::uint64_t at) {
  const auto after = std::upper_bound(table.entries.begin(), table.entries.end(), at,
                                      [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.before; });
  return static_cast<std::uint64_t>(after - table.entries.begin()) - 1;
}

// The number of whole runs of `bytes` bytes in `limit`, at most `most`. Usually all `most` runs fit, which is tested
// without a division.
std::uint64_t whole_runs(std::uint64_t most, std::uint64_t bytes, std::uint64_t limit) {
  std::uint64_t all = 0;
  if (!__builtin_mul_overflow(most, bytes, &all) && all <= limit) return most;
  return limit / bytes;
}

}  // namespace

LayoutWalker::LayoutWalker(const LayoutNode& root, std::uintptr_t base, std::uint64_t at) : frames_(inline_) {
  // The depth is known in advance, so the stack of frames never grows during the walk.
  if (root.depth > kInlineFrames) {
    deep_ = std::make_unique_for_overwrite<Frame[]>(root.depth);
    frames_ = deep_.get();
  }
  if (at == 0) {
    first_of(&root, base);
  } else {
    descend(&root, base, at);
  }
}

// Moves to the run that contains byte `at`. Invariant: the top frame is a run, a loop over a run, blocks, or a table at
// an entry that is a run.
void LayoutWalker::descend(const LayoutNode* node, std::uintptr_t base, std::uint64_t at) {
  for (;;) {
    switch (node->kind) {
      case Kind::run:
        push(node, base, 0);
        in_run_ = at;
        return;
      case Kind::blocks:
        push(node, base, at / node->block);
        in_run_ = at % node->block;
        return;
      case Kind::loop: {
        const std::uint64_t body = node->child->size;
        const std::uint64_t index = at / body;
        at -= index * body;
        push(node, base, index);
        if (node->block != 0) {
          in_run_ = at;
          return;
        }
        base = moved(base, index, node->stride);
        node = node->child.get();
        break;
      }
      case Kind::table: {
        const std::uint64_t index = entry_at(*node, at);
        const Entry& entry = node->entries[index];
        at -= entry.before;
        push(node, base, index);
        if (entry.child == nullptr) {
          in_run_ = at;
          return;
        }
        base = moved(base, entry.offset);
        node = entry.child;
        break;
      }
    }
  }
}

// The same for byte 0, the usual start, without divisions and searches.
void LayoutWalker::first_of(const LayoutNode* node, std::uintptr_t base) {
  in_run_ = 0;
  for (;;) {
    push(node, base, 0);
    if (node->kind == Kind::loop && node->block == 0) {
      node = node->child.get();
    } else if (node->kind == Kind::table && node->entries[0].child != nullptr) {
      base = moved(base, node->entries[0].offset);
      node = node->entries[0].child;
    } else {
      return;
    }
  }
}

// Leaves the top node, which has no more runs: goes up to the first node with a further iteration or entry, and down to
// the next run there.
void LayoutWalker::climb() {
  while (top_ > 0) {
    --top_;
    Frame& frame = frames_[top_];
    const LayoutNode& node = *frame.node;
    if (++frame.index == static_cast<std::uint64_t>(node.count)) continue;
    if (node.kind == Kind::loop) return first_of(node.child.get(), moved(frame.base, frame.index, node.stride));
    const Entry& entry = node.entries[frame.index];
    if (entry.child != nullptr) return first_of(entry.child, moved(frame.base, entry.offset));
    in_run_ = 0;
    return;
  }
}

// Moves past whole runs of the top node.
void LayoutWalker::passed_run(Frame& top, std::uint64_t runs) {
  in_run_ = 0;
  top.index += runs;
  const LayoutNode& node = *top.node;
  if (node.kind == Kind::run || top.index == static_cast<std::uint64_t>(node.count)) {
    climb();
  } else if (node.kind == Kind::table) {
    const Entry& entry = node.entries[top.index];
    if (entry.child != nullptr) first_of(entry.child, moved(top.base, entry.offset));
  }
}

// Takes whole runs of a table that has only runs; false if not even one run fits.
bool LayoutWalker::take_entries(Frame& top, std::uint64_t limit, Strip& strip) {
  const LayoutNode& node = *top.node;
  const Entry& first = node.entries[top.index];
  auto end = static_cast<std::uint64_t>(node.count);
  std::uint64_t total = node.size - first.before;
  if (total > limit) {
    end = entry_at(node, first.before + limit);
    total = node.entries[end].before - first.before;
  }
  if (end == top.index) return false;
  strip.base = top.base;
  strip.entries = &first;
  strip.count = end - top.index;
  strip.total = total;
  passed_run(top, strip.count);
  return true;
}

Strip LayoutWalker::run() const {
  Strip strip;
  put_run(strip);
  return strip;
}

// Writes into the strip that the caller returns, because a copy of a strip would be a store-forwarding stall.
void LayoutWalker::put_run(Strip& strip) const {
  const Frame& top = frames_[top_];
  const LayoutNode& node = *top.node;
  strip.count = 1;
  switch (node.kind) {
    case Kind::run:
      strip.base = top.base;
      strip.bytes = node.size;
      strip.leaf = node.leaf;
      break;
    case Kind::loop:
      strip.base = moved(top.base, top.index, node.stride);
      strip.bytes = node.block;
      strip.leaf = node.child->leaf;
      break;
    case Kind::blocks:
      strip.base = moved(top.base, node.offsets[top.index]);
      strip.bytes = node.block;
      break;
    case Kind::table:
      strip.base = moved(top.base, node.entries[top.index].offset);
      strip.bytes = entry_end(node, top.index) - node.entries[top.index].before;
      break;
  }
  strip.base += in_run_;
  strip.bytes -= in_run_;
  strip.total = strip.bytes;
}

Strip LayoutWalker::take(std::uint64_t limit) {
  Frame& top = frames_[top_];
  const LayoutNode& node = *top.node;
  Strip strip;
  // Only at the start of a run, because a strip of entries has no cut run.
  if (in_run_ == 0 && node.runs_only && take_entries(top, limit, strip)) return strip;
  put_run(strip);
  if (in_run_ == 0 && strip.bytes <= limit) {
    std::uint64_t left = 1;  // runs to the node's end
    if (node.kind == Kind::loop || node.kind == Kind::blocks) left = static_cast<std::uint64_t>(node.count) - top.index;
    if (left != 1) {
      strip.count = whole_runs(left, strip.bytes, limit);
      strip.total = strip.bytes * strip.count;
      strip.stride = node.stride;
      if (node.kind == Kind::blocks) {
        strip.base = top.base;
        strip.offsets = node.offsets.data() + top.index;
      }
    }
    passed_run(top, strip.count);
    return strip;
  }
  // A run of which a part was yielded, or that `limit` cuts, is yielded alone.
  const std::uint64_t rest = strip.bytes;
  strip.bytes = strip.total = std::min(rest, limit);
  in_run_ += strip.bytes;
  if (strip.bytes == rest) passed_run(top, 1);
  return strip;
}

}  // namespace margay::mpi_adi
