#include "mpi_adi/datatype/builder.hpp"

#include <algorithm>
#include <utility>

namespace margay::mpi_adi {

TypeDefinition::~TypeDefinition() {
  // A loop instead of recursion: a program may nest types more deeply than its stack.
  std::vector<TypePtr> below = std::move(origin.types);
  while (!below.empty()) {
    const TypePtr one = std::move(below.back());
    below.pop_back();
    if (one == nullptr || one.use_count() != 1) continue;
    // No other type uses this definition, so it is destroyed in this iteration, and its members may be moved.
    auto& last = const_cast<TypeDefinition&>(*one);
    for (TypePtr& type : last.origin.types) below.push_back(std::move(type));
    last.origin.types.clear();
  }
}

// Requires: blocks and length above 0.
bool TypeBuilder::reach_of(const TypeBlocks& group, const TypeDefinition& type, Reach& reach) {
  // The last block and element may lie before the first: strides and extents may be negative.
  std::int64_t last_block = 0;
  std::int64_t last_element = 0;
  if (__builtin_mul_overflow(group.blocks - 1, group.stride, &last_block) ||
      __builtin_mul_overflow(group.length - 1, type.extent(), &last_element)) {
    return fits_ = false;
  }
  return sum(std::min<std::int64_t>(last_block, 0), std::min<std::int64_t>(last_element, 0), reach.least) &&
         sum(std::max<std::int64_t>(last_block, 0), std::max<std::int64_t>(last_element, 0), reach.most) &&
         sum(reach.least, group.offset, reach.least) && sum(reach.most, group.offset, reach.most);
}

void TypeBuilder::widen(TypeBounds& bounds, bool& any, const TypeBounds& by, const Reach& reach) {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  if (!sum(by.lower, reach.least, lower) || !sum(by.upper, reach.most, upper)) return;
  bounds.lower = any ? std::min(bounds.lower, lower) : lower;
  bounds.upper = any ? std::max(bounds.upper, upper) : upper;
  any = true;
}

// If a bound was set in any part, it takes precedence over the bounds that are found (MPI 4.0, 5.1.7).
void TypeBuilder::take_bounds(const TypeDefinition& type, const Reach& reach) {
  if (!type.has_bounds()) return;
  widen(found_, any_found_, type.bounds, reach);
  std::int64_t at = 0;
  if (type.lower_set && sum(type.bounds.lower, reach.least, at)) set_lower(at);
  if (type.upper_set && sum(type.bounds.upper, reach.most, at)) set_upper(at);
}

void TypeBuilder::set_lower(std::int64_t at) {
  set_.lower = lower_set_ ? std::min(set_.lower, at) : at;
  lower_set_ = true;
}

void TypeBuilder::set_upper(std::int64_t at) {
  set_.upper = upper_set_ ? std::max(set_.upper, at) : at;
  upper_set_ = true;
}

void TypeBuilder::add(const TypeBlocks& group, const TypePtr& type) {
  if (group.blocks == 0 || group.length == 0 || !fits_) return;
  const TypeDefinition& old = *type;
  Reach reach;
  std::int64_t elements = 0;
  std::uint64_t bytes = 0;
  // All sums are checked before anything changes, so a failed builder never contains half a group.
  if (!reach_of(group, old, reach) || __builtin_mul_overflow(group.blocks, group.length, &elements) ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(elements), old.size, &bytes) || bytes > kTypeBytesMax - size_) {
    fits_ = false;
    return;
  }
  take_bounds(old, reach);
  alignment_ = std::max(alignment_, old.alignment);
  // A group without data changes bounds, above, but has no bytes in the layout.
  if (bytes != 0) {
    widen(true_, any_true_, old.true_bounds, reach);
    // The elements of a block fold, if possible, before the block is repeated.
    const Layout block = layout_repeat(old.layout, group.length, old.extent());
    layout_.add(group.offset, block, group.blocks, group.stride);
    signature_.add(static_cast<std::int64_t>(size_), old.signature, elements, static_cast<std::int64_t>(old.size));
    size_ += bytes;
  }
  elements_ += static_cast<std::uint64_t>(elements) * old.elements;
  external_size_ += static_cast<std::uint64_t>(elements) * old.external_size;
}

// An upper bound that was set prevents padding. A lower bound that was set only changes the start of the extent (MPI
// 4.0, 5.1.7).
void TypeBuilder::pad() {
  if (!any_found_ || upper_set_) return;
  const std::int64_t lower = lower_set_ ? set_.lower : found_.lower;
  const std::uint64_t extent = static_cast<std::uint64_t>(found_.upper) - static_cast<std::uint64_t>(lower);
  const std::uint64_t over = extent % alignment_;
  if (over != 0) static_cast<void>(sum(found_.upper, static_cast<std::int64_t>(alignment_ - over), found_.upper));
}

TypePtr TypeBuilder::finish(TypeOrigin origin) {
  const TypeBounds bounds{lower_set_ ? set_.lower : found_.lower, upper_set_ ? set_.upper : found_.upper};
  return build(std::move(origin), bounds);
}

TypePtr TypeBuilder::finish(TypeOrigin origin, std::int64_t lower, std::int64_t upper) {
  lower_set_ = upper_set_ = true;
  return build(std::move(origin), {lower, upper});
}

TypePtr TypeBuilder::build(TypeOrigin&& origin, const TypeBounds& bounds) {
  std::int64_t extent = 0;
  // The extent must fit in 63 bits, too, although both bounds do.
  if (!fits_ || __builtin_sub_overflow(bounds.upper, bounds.lower, &extent)) return nullptr;
  auto made = std::make_shared<TypeDefinition>();
  made->size = size_;
  made->elements = elements_;
  made->external_size = external_size_;
  made->bounds = bounds;
  made->true_bounds = true_;
  made->lower_set = lower_set_;
  made->upper_set = upper_set_;
  made->alignment = alignment_;
  made->layout = layout_.finish();
  made->signature = signature_.finish();
  made->origin = std::move(origin);
  // Made last, because it needs the final layout and extent.
  made->in_a_row.emplace(made->layout, extent);
  return made;
}

}  // namespace margay::mpi_adi
