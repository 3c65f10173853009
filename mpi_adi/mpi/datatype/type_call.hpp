// What the datatype bindings share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/mpi/call.hpp"

namespace margay::mpi_adi {

// A constructor's end: the new type's handle goes to `newtype`, or an error is raised. `made` null: too large.
[[nodiscard]] int hand_out_type(Call& call, TypePtr made, MPI_Datatype* newtype);

// The definition of any living type; an error and nullptr otherwise.
[[nodiscard]] inline TypePtr definition(Call& call, MPI_Datatype handle) {
  const Datatype* type = call.any_datatype(handle);
  return type != nullptr ? type->definition : nullptr;
}

// Checks an array argument: null only when it has no elements. Empty after an error.
template <typename Element>
[[nodiscard]] std::span<const Element> array(Call& call, const Element* first, std::int64_t count, const char* what) {
  if (!call.ok() || count <= 0) return {};
  call.not_null(first, what);
  return first != nullptr ? std::span(first, static_cast<std::size_t>(count)) : std::span<const Element>();
}

// Block lengths: none below 0.
[[nodiscard]] std::span<const int> block_lengths(Call& call, const int* first, int count);

// Notes MPI_ERR_ARG "`what`[i] is `value`, `why`".
void bad_element(Call& call, const char* what, std::size_t i, std::int64_t value, const char* why);

// The integers of a type's contents, put together of a count, lengths and displacements.
[[nodiscard]] std::vector<int> joined(int first, std::span<const int> a, std::span<const int> b = {});

// "external32" is the only representation that is not the machine's own.
void check_external32(Call& call, const char* datarep);

}  // namespace margay::mpi_adi
