// The common parts of the datatype bindings: the end of a constructor, checks of arrays, and the record of how a type
// was made.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/call/call.hpp"
#include "mpi_adi/datatype/construct.hpp"

namespace margay::mpi {

// Ends a constructor: passes the new type's handle to the program, or raises an error. `made` null: the type is too
// large (MPI_ERR_COUNT). The type is not committed.
[[nodiscard]] int hand_out_type(Call& call, TypePtr made, MPI_Datatype* newtype);

// The definition of any living type, committed or not, as a reference that outlives the handle; nullptr, with
// MPI_ERR_TYPE set, if the handle is invalid.
[[nodiscard]] inline TypePtr definition(Call& call, MPI_Datatype handle) {
  const Datatype* type = call.any_datatype(handle);
  return type != nullptr ? type->definition : nullptr;
}

// Checks an array argument, which may be null only if it has no elements. Empty after an error. The result refers to
// the program's array.
template <typename Element>
[[nodiscard]] std::span<const Element> array(Call& call, const Element* first, std::int64_t count, const char* what) {
  if (!call.ok() || count <= 0) return {};
  call.not_null(first, what);
  return first != nullptr ? std::span(first, static_cast<std::size_t>(count)) : std::span<const Element>();
}

// Checks an array of block lengths, none of which may be negative.
template <typename Count>
[[nodiscard]] std::span<const Count> block_lengths(Call& call, const Count* first, std::int64_t count) {
  const std::span<const Count> lengths = array(call, first, count, "array_of_blocklengths");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) call.count(lengths[i], ("array_of_blocklengths[" + std::to_string(i) + "]").c_str());
  }
  return lengths;
}

// Sets MPI_ERR_ARG, "`what`[i] is `value`, `why`".
void bad_element(Call& call, const char* what, std::size_t i, std::int64_t value, const char* why);

// The lists in which a constructor's integers and displacements are recorded: one list for both in a constructor for
// large counts.
template <typename Count>
[[nodiscard]] auto& kept_numbers(TypeOrigin& origin) {
  if constexpr (std::is_same_v<Count, MPI_Count>) {
    return origin.counts;
  } else {
    return origin.integers;
  }
}
template <typename Count>
[[nodiscard]] auto& kept_displacements(TypeOrigin& origin) {
  if constexpr (std::is_same_v<Count, MPI_Count>) {
    return origin.counts;
  } else {
    return origin.addresses;
  }
}
// Appends numbers to a record.
template <typename Number>
void append(std::vector<Number>& all, std::span<const Number> some) {
  all.insert(all.end(), some.begin(), some.end());
}
// The record of how a type was made, for MPI_Type_get_contents: the arguments in their order. `numbers` become the
// contents' integers, and `places` the addresses. In a constructor for large counts (`Count` is MPI_Count) both become
// large counts, `numbers` first. `old`: the types from which the new type is made; the record keeps them alive.
template <typename Count>
[[nodiscard]] TypeOrigin origin_of(int combiner, std::initializer_list<std::span<const Count>> numbers,
                                   std::span<const MPI_Aint> displacements, std::vector<TypePtr> old) {
  TypeOrigin origin{combiner, {}, {}, std::move(old)};
  for (const std::span<const Count> some : numbers) append(kept_numbers<Count>(origin), some);
  append(kept_displacements<Count>(origin), displacements);
  return origin;
}

// Checks the name of a representation. "external32" is the only valid one (MPI 4.0, 5.3); any other is MPI_ERR_ARG.
void check_external32(Call& call, const char* datarep);

}  // namespace margay::mpi
