#include "mpi_adi/datatype/construct.hpp"

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
    if (types[i]->predefined == MPI_LB) {
      if (lengths[i] != 0) builder.set_lower(displacements[i]);
    } else if (types[i]->predefined == MPI_UB) {
      if (lengths[i] != 0) builder.set_upper(displacements[i]);
    } else {
      builder.add({.offset = displacements[i], .blocks = 1, .length = lengths[i], .stride = 0}, types[i]);
    }
  }
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
  const std::shared_ptr<TypeDefinition> copy = copy_definition(*old);
  copy->origin = std::move(origin);
  return copy;
}

}  // namespace margay::mpi_adi
