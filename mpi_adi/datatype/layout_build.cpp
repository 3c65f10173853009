#include "mpi_adi/datatype/layout_build.hpp"

#include <algorithm>
#include <utility>

namespace margay::mpi_adi {

namespace {

using Kind = LayoutNode::Kind;

// A table or list of blocks of at most this length becomes part of the sequence to which it is added. So a struct in a
// struct is one table, and touching fields join.
constexpr std::int64_t kInlinedEntries = 16;

LayoutPtr loop_node(std::int64_t count, std::int64_t stride, LayoutPtr child) {
  auto node = std::make_shared<LayoutNode>();
  node->kind = Kind::loop;
  node->count = count;
  node->stride = stride;
  node->size = static_cast<std::uint64_t>(count) * child->size;
  node->block = child->kind == Kind::run ? child->size : 0;
  node->depth = child->depth + 1;
  node->child = std::move(child);
  return node;
}

LayoutPtr run_node(std::uint64_t bytes, int leaf) {
  auto node = std::make_shared<LayoutNode>();
  node->size = bytes;
  node->leaf = leaf;
  return node;
}

// Whether two nodes are the same, or equal loops.
bool same(const LayoutPtr& a, const LayoutPtr& b) {
  return a == b || (a && b && a->kind == Kind::loop && b->kind == Kind::loop && a->child == b->child &&
                    a->count == b->count && a->stride == b->stride);
}

}  // namespace

LayoutNode::~LayoutNode() {
  // A loop instead of recursion, as the header says.
  std::vector<LayoutPtr> below = std::move(held);
  if (child) below.push_back(std::move(child));
  while (!below.empty()) {
    const LayoutPtr one = std::move(below.back());
    below.pop_back();
    if (one.use_count() != 1) continue;
    // No other layout uses this node, so it is destroyed in this iteration, and its members may be moved.
    auto& last = const_cast<LayoutNode&>(*one);
    for (LayoutPtr& held_there : last.held) below.push_back(std::move(held_there));
    if (last.child) below.push_back(std::move(last.child));
    last.held.clear();
  }
}

Layout layout_run(std::uint64_t bytes, int leaf) {
  if (bytes == 0) return {};
  return {run_node(bytes, leaf), 0};
}

Layout layout_repeat(const Layout& body, std::int64_t count, std::int64_t stride) {
  if (count == 0 || !body.node) return {};
  if (count == 1) return body;
  const LayoutNode& node = *body.node;
  // Touching runs are one run, however often they repeat.
  if (node.kind == Kind::run && stride == static_cast<std::int64_t>(node.size)) {
    return {run_node(node.size * static_cast<std::uint64_t>(count), node.leaf), body.offset};
  }
  std::int64_t whole = 0;
  // If the inner loop's iterations continue at the same stride in the next outer iteration, both loops become one.
  if (node.kind == Kind::loop && !__builtin_mul_overflow(node.count, node.stride, &whole) && whole == stride) {
    return {loop_node(node.count * count, node.stride, node.child), body.offset};
  }
  return {loop_node(count, stride, body.node), body.offset};
}

void LayoutSequence::add(std::int64_t offset, const Layout& body, std::int64_t count, std::int64_t stride) {
  if (count == 0 || !body.node) return;
  const std::int64_t at = offset + body.offset;
  const LayoutNode& node = *body.node;
  if (node.kind == Kind::run && (count == 1 || stride == static_cast<std::int64_t>(node.size))) {
    add_run(at, node.size * static_cast<std::uint64_t>(count), node.leaf);
  } else if (count == 1 && (node.kind == Kind::table || node.kind == Kind::blocks) && node.count <= kInlinedEntries) {
    add_entries(at, node);
  } else {
    // Built at offset 0, because the part has the offset. So equal loops at different places are equal nodes.
    const Layout repeated = layout_repeat({body.node, 0}, count, stride);
    add_node(at, repeated.node);
  }
}

void LayoutSequence::add_run(std::int64_t offset, std::uint64_t bytes, int leaf) {
  if (!parts_.empty()) {
    Part& last = parts_.back();
    // Runs of different types do not join, because the signature must distinguish them.
    if (!last.node && last.leaf == leaf && last.offset + static_cast<std::int64_t>(last.bytes) == offset) {
      last.bytes += bytes;
      return;
    }
  }
  parts_.push_back({offset, bytes, leaf, nullptr});
}

// Joins a loop to the last part, if the last part is a loop over the same body with the same stride, and this loop
// begins where its next iteration would. This occurs with touching blocks of an indexed type.
bool LayoutSequence::joins_loop(std::int64_t offset, const LayoutPtr& node) {
  if (parts_.empty() || !parts_.back().node || node->kind != Kind::loop) return false;
  Part& last = parts_.back();
  if (last.node->kind != Kind::loop || last.node->child != node->child || last.node->stride != node->stride) {
    return false;
  }
  if (last.offset + last.node->count * last.node->stride != offset) return false;
  last.node = loop_node(last.node->count + node->count, node->stride, node->child);
  last.bytes = last.node->size;
  return true;
}

void LayoutSequence::add_node(std::int64_t offset, const LayoutPtr& node) {
  if (node->kind == Kind::run) {
    add_run(offset, node->size, node->leaf);
  } else if (!joins_loop(offset, node)) {
    // Equal parts share one node, so that regular() can compare pointers.
    const bool again = !parts_.empty() && same(parts_.back().node, node);
    parts_.push_back({offset, node->size, 0, again ? parts_.back().node : node});
  }
}

void LayoutSequence::add_entries(std::int64_t offset, const LayoutNode& table) {
  // Lists of blocks exist only in layouts, not in signatures, so their leaf is 0.
  for (const std::int64_t block : table.offsets) add_run(offset + block, table.block, 0);
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const LayoutNode::Entry& entry = table.entries[i];
    if (entry.child == nullptr) {
      add_run(offset + entry.offset, entry_end(table, i) - entry.before, 0);
    } else {
      const auto held = std::find_if(table.held.begin(), table.held.end(),
                                     [&entry](const LayoutPtr& one) { return one.get() == entry.child; });
      add_node(offset + entry.offset, *held);
    }
  }
}

bool LayoutSequence::regular() const {
  const Part& first = parts_[0];
  const std::int64_t stride = parts_[1].offset - first.offset;
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.node != first.node || part.bytes != first.bytes || part.leaf != first.leaf) return false;
    if (part.offset - parts_[i - 1].offset != stride) return false;
  }
  return true;
}

bool LayoutSequence::equal_runs() const {
  return std::all_of(parts_.begin(), parts_.end(), [this](const Part& part) {
    return !part.node && part.leaf == 0 && part.bytes == parts_[0].bytes;
  });
}

Layout LayoutSequence::finish() {
  if (parts_.empty()) return {};
  const Part& first = parts_[0];
  if (parts_.size() == 1) return {first.node ? first.node : run_node(first.bytes, first.leaf), first.offset};
  // The smallest form is tried first: a loop takes constant memory, blocks take 8 bytes a part, and a table 24 bytes a
  // part.
  if (regular()) {
    const Layout body{first.node ? first.node : run_node(first.bytes, first.leaf), first.offset};
    return layout_repeat(body, static_cast<std::int64_t>(parts_.size()), parts_[1].offset - first.offset);
  }
  return equal_runs() ? as_blocks() : as_table();
}

Layout LayoutSequence::as_blocks() const {
  auto node = std::make_shared<LayoutNode>();
  node->kind = Kind::blocks;
  node->count = static_cast<std::int64_t>(parts_.size());
  node->block = parts_[0].bytes;
  node->size = node->block * parts_.size();
  node->offsets.reserve(parts_.size());
  for (const Part& part : parts_) node->offsets.push_back(part.offset);
  return {std::move(node), 0};
}

Layout LayoutSequence::as_table() const {
  auto node = std::make_shared<LayoutNode>();
  node->kind = Kind::table;
  node->count = static_cast<std::int64_t>(parts_.size());
  node->entries.reserve(parts_.size());
  std::uint32_t depth = 0;
  for (const Part& part : parts_) {
    LayoutPtr child = part.node;
    // A run of leaf 0 needs no node: its length is the difference to the next entry's `before`.
    if (!child && part.leaf != 0) child = run_node(part.bytes, part.leaf);
    node->entries.push_back({part.offset, node->size, child.get()});
    node->size += part.bytes;
    if (!child) continue;
    depth = std::max(depth, child->depth);
    // Consecutive children are often equal, and one reference keeps them alive.
    if (node->held.empty() || node->held.back() != child) node->held.push_back(std::move(child));
  }
  node->depth = depth + 1;
  node->runs_only = node->held.empty();
  return {std::move(node), 0};
}

}  // namespace margay::mpi_adi
