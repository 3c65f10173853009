#include "mpi_adi/object/type_build.hpp"

#include <algorithm>

namespace margay::mpi_adi {

namespace {

// Adds one element of `old` at `at`; a block that touches the last one joins it.
void append(Datatype& type, const Datatype& old, std::int64_t at) {
  for (const TypeBlock& block : old.blocks) {
    const std::int64_t offset = at + block.offset;
    if (!type.blocks.empty()) {
      TypeBlock& last = type.blocks.back();
      if (last.offset + static_cast<std::int64_t>(last.bytes) == offset) {
        last.bytes += block.bytes;
        continue;
      }
    }
    if (block.bytes > 0) type.blocks.push_back({offset, block.bytes});
  }
}

}  // namespace

bool can_build(std::int64_t count, std::int64_t block_length, const Datatype& old) {
  constexpr std::uint64_t kSizeMax = 1ULL << 62;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(block_length), &elements) ||
      __builtin_mul_overflow(elements, old.size, &bytes) || bytes > kSizeMax) {
    return false;
  }
  const std::uint64_t blocks = old.dense() ? static_cast<std::uint64_t>(count) : elements * old.blocks.size();
  return blocks <= kTypeBlocksMax;
}

Datatype type_contiguous(std::int64_t count, const Datatype& old) {
  return type_hvector(1, count, 0, old);
}

Datatype type_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes, const Datatype& old) {
  Datatype type;
  type.basic = old.basic;
  type.size = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(block_length) * old.size;
  if (count == 0 || block_length == 0) return type;
  for (std::int64_t i = 0; i < count; ++i) {
    if (old.dense()) {
      const auto bytes = static_cast<std::uint64_t>(block_length) * old.size;
      Datatype run;
      if (bytes > 0) run.blocks = {{0, bytes}};
      append(type, run, i * stride_bytes);
      continue;
    }
    for (std::int64_t j = 0; j < block_length; ++j) append(type, old, i * stride_bytes + j * old.extent);
  }
  // Bounds: of the first and the last block, whichever lies lower, and of elements that may step backwards.
  const std::int64_t last_block = (count - 1) * stride_bytes;
  const std::int64_t last_element = (block_length - 1) * old.extent;
  type.lower_bound = old.lower_bound + std::min<std::int64_t>(0, last_block) + std::min<std::int64_t>(0, last_element);
  const std::int64_t upper_bound =
      old.lower_bound + old.extent + std::max<std::int64_t>(0, last_block) + std::max<std::int64_t>(0, last_element);
  type.extent = upper_bound - type.lower_bound;
  return type;
}

}  // namespace margay::mpi_adi
