#include "mpi_adi/datatype/construct.hpp"

#include <algorithm>
#include <utility>

#include "mpi_adi/datatype/builder.hpp"

namespace margay::mpi_adi {

namespace {

template <typename Count, typename Displacement>
TypePtr indexed(std::span<const Count> lengths, std::span<const Displacement> displacements, std::int64_t unit,
                const TypePtr& old, TypeOrigin&& origin) {
  TypeBuilder builder;
  builder.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    std::int64_t at = 0;
    // For some constructors, displacements are counted in elements, so the product may not fit.
    if (__builtin_mul_overflow(static_cast<std::int64_t>(displacements[i]), unit, &at)) return nullptr;
    builder.add({.offset = at, .blocks = 1, .length = lengths[i], .stride = 0}, old);
  }
  return builder.finish(std::move(origin));
}

template <typename Count>
TypePtr structure(std::span<const Count> lengths, std::span<const MPI_Aint> displacements,
                  std::span<const TypePtr> types, TypeOrigin&& origin) {
  TypeBuilder builder;
  builder.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    // Markers have a displacement but no data. With length 0 they have no effect.
    if (types[i]->predefined == MPI_LB) {
      if (lengths[i] != 0) builder.set_lower(displacements[i]);
    } else if (types[i]->predefined == MPI_UB) {
      if (lengths[i] != 0) builder.set_upper(displacements[i]);
    } else {
      builder.add({.offset = displacements[i], .blocks = 1, .length = lengths[i], .stride = 0}, types[i]);
    }
  }
  // Only structs are padded.
  builder.pad();
  return builder.finish(std::move(origin));
}

}  // namespace

TypePtr make_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes, const TypePtr& old,
                     TypeOrigin origin) {
  TypeBuilder builder;
  builder.add({.offset = 0, .blocks = count, .length = block_length, .stride = stride_bytes}, old);
  return builder.finish(std::move(origin));
}

TypePtr make_indexed(std::span<const int> lengths, std::span<const MPI_Aint> displacements, std::int64_t unit,
                     const TypePtr& old, TypeOrigin origin) {
  return indexed(lengths, displacements, unit, old, std::move(origin));
}

TypePtr make_indexed(std::span<const int> lengths, std::span<const int> displacements, std::int64_t unit,
                     const TypePtr& old, TypeOrigin origin) {
  return indexed(lengths, displacements, unit, old, std::move(origin));
}

TypePtr make_indexed(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements, std::int64_t unit,
                     const TypePtr& old, TypeOrigin origin) {
  return indexed(lengths, displacements, unit, old, std::move(origin));
}

TypePtr make_struct(std::span<const int> lengths, std::span<const MPI_Aint> displacements,
                    std::span<const TypePtr> types, TypeOrigin origin) {
  return structure(lengths, displacements, types, std::move(origin));
}

TypePtr make_struct(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements,
                    std::span<const TypePtr> types, TypeOrigin origin) {
  return structure(lengths, displacements, types, std::move(origin));
}

TypePtr make_resized(const TypePtr& old, std::int64_t lower, std::int64_t extent, TypeOrigin origin) {
  std::int64_t upper = 0;
  if (__builtin_add_overflow(lower, extent, &upper)) return nullptr;
  TypeBuilder builder;
  builder.add({}, old);
  return builder.finish(std::move(origin), lower, upper);
}

std::shared_ptr<TypeDefinition> copy_definition(const TypeDefinition& old) {
  auto copy = std::make_shared<TypeDefinition>();
  copy->size = old.size;
  copy->elements = old.elements;
  copy->external_size = old.external_size;
  copy->bounds = old.bounds;
  copy->true_bounds = old.true_bounds;
  copy->lower_set = old.lower_set;
  copy->upper_set = old.upper_set;
  copy->alignment = old.alignment;
  copy->layout = old.layout;
  copy->signature = old.signature;
  copy->in_a_row = old.in_a_row;
  return copy;
}

TypePtr make_dup(const TypePtr& old, TypeOrigin origin) {
  // Layouts are immutable, so the copy shares them.
  const std::shared_ptr<TypeDefinition> copy = copy_definition(*old);
  copy->origin = std::move(origin);
  return copy;
}

namespace {

// The index of the i-th dimension, counted from the dimension that varies fastest.
std::size_t from_fastest(std::size_t i, std::size_t dimensions, int order) {
  return order == MPI_ORDER_C ? dimensions - 1 - i : i;
}

bool multiply(std::int64_t& number, std::int64_t by) {
  return !__builtin_mul_overflow(number, by, &number);
}

// The blocks of one dimension that this process gets. Their elements are `inner`, the process's part of the faster
// dimensions.
TypePtr deal(const Distribution& dimension, const TypePtr& inner) {
  const std::int64_t extent = inner->extent();
  std::int64_t round = dimension.block;
  if (!multiply(round, dimension.processes)) return nullptr;
  const std::int64_t first = dimension.block * dimension.coordinate;  // no overflow, because coordinate < processes
  std::int64_t upper = extent;
  std::int64_t offset = extent;
  std::int64_t stride = extent;
  if (!multiply(upper, dimension.array) || !multiply(offset, first) || !multiply(stride, round)) return nullptr;
  TypeBuilder builder;
  if (first < dimension.array) {
    // One block for each round, of which the array's end may cut the last.
    const std::int64_t before_last = (dimension.array - 1 - first) / round;
    const std::int64_t last = std::min(dimension.block, dimension.array - first - before_last * round);
    const bool last_is_whole = last == dimension.block;
    builder.add({offset, before_last + (last_is_whole ? 1 : 0), dimension.block, stride}, inner);
    if (!last_is_whole) builder.add({offset + before_last * stride, 1, last, 0}, inner);
  }
  return builder.finish({}, 0, upper);
}

template <typename Count>
TypePtr subarray(std::span<const Count> sizes, std::span<const Count> subsizes, std::span<const Count> starts,
                 int order, const TypePtr& old, TypeOrigin&& origin) {
  std::int64_t distance = old->extent();  // bytes between neighbours in the dimension
  std::int64_t offset = 0;
  TypePtr box = old;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t dimension = from_fastest(i, sizes.size(), order);
    std::int64_t start = starts[dimension];
    if (!multiply(start, distance) || __builtin_add_overflow(offset, start, &offset)) return nullptr;
    // A loop for each dimension. A dimension of which the box has all elements folds into the next loop.
    box = make_hvector(subsizes[dimension], 1, distance, box, {});
    if (box == nullptr || !multiply(distance, sizes[dimension])) return nullptr;
  }
  TypeBuilder builder;
  builder.add({.offset = offset, .blocks = 1, .length = 1, .stride = 0}, box);
  // The extent is that of the whole array, so that consecutive elements are consecutive arrays.
  return builder.finish(std::move(origin), 0, distance);
}

}  // namespace

TypePtr make_subarray(std::span<const int> sizes, std::span<const int> subsizes, std::span<const int> starts, int order,
                      const TypePtr& old, TypeOrigin origin) {
  return subarray(sizes, subsizes, starts, order, old, std::move(origin));
}

TypePtr make_subarray(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
                      std::span<const MPI_Count> starts, int order, const TypePtr& old, TypeOrigin origin) {
  return subarray(sizes, subsizes, starts, order, old, std::move(origin));
}

TypePtr make_darray(std::span<const Distribution> dimensions, int order, const TypePtr& old, TypeOrigin origin) {
  TypePtr part = old;
  for (std::size_t i = 0; i < dimensions.size() && part != nullptr; ++i) {
    part = deal(dimensions[from_fastest(i, dimensions.size(), order)], part);
  }
  if (part == nullptr) return nullptr;
  TypeBuilder builder;
  builder.add({}, part);
  return builder.finish(std::move(origin), part->bounds.lower, part->bounds.upper);
}

}  // namespace margay::mpi_adi
