// Whole calls of one-sided accesses, which their bindings call in one line.
#pragma once

#include "mpi/call/binding.hpp"
#include "mpi/call/call_name.hpp"
#include "mpi/layers.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/rma/rma.hpp"

// Accumulates on datatypes that are made of pairs (MPI_DOUBLE_INT and its like; MPI 4.0, 6.9.4).

namespace margay::mpi {

// The one pair type that all of a derived datatype is made of; 0: there is none.
[[nodiscard]] MPI_Datatype pair_of(const TypeDefinition& definition);
// Whether a pair's elements have bytes between or behind them, and so are no run of MPI_Type_size bytes each.
[[nodiscard]] bool is_padded_pair(MPI_Datatype type);
// Element by element, each an accumulate of its own: they lie apart, or a piece holds parts of two. `pair`: the
// elements' type. Requires: `access` is checked, and all its types' elements are `pair`.
void accumulate_pairs(Rma& rma, Window& window, const Access& access, const AccumulateOperands& operands,
                      const OriginData& origin, const Datatype& pair);

}  // namespace margay::mpi

namespace margay::mpi {

// MPI_Put, MPI_Get; with a request MPI_Rput, MPI_Rget. Both return what the binding returns.
[[nodiscard]] int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments);
[[nodiscard]] int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments,
                              MPI_Request* request);

// The operands of an accumulate, beside what `AccessArguments` says; `result` null: none is wanted.
struct ResultArguments {
  void* result = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool wanted = false;
  bool one_element = false;  // of a predefined datatype (MPI_Fetch_and_op, MPI_Compare_and_swap)
};
[[nodiscard]] int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op,
                                  const ResultArguments& result);
[[nodiscard]] int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op,
                                  const ResultArguments& result, MPI_Request* request);
// MPI_Compare_and_swap.
[[nodiscard]] int swap_call(const Invocation& name, const AccessArguments& arguments, const void* compare,
                            void* result);

}  // namespace margay::mpi

// The bindings of an access, MPI_X and MPI_RX, which has a request behind the parameters; each with its twin for large
// counts: work(name, arguments...) and work(name, arguments..., request).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): several names made of one.
#define MARGAY_ACCESS(name, request_name, parameters, work, ...)              \
  MARGAY_TWINS(name, parameters, { return work(called, __VA_ARGS__); })       \
  MARGAY_TWINS(request_name, (MARGAY_LIST parameters, MPI_Request * request), \
               { return work(called, __VA_ARGS__, request); })
