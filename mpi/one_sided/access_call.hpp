// The bodies of one-sided accesses' bindings, each of which returns what its binding returns.
#pragma once

#include "mpi/call/binding.hpp"
#include "mpi/call/call_name.hpp"
#include "mpi/layers.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/rma/rma.hpp"

// Accumulates on datatypes made of pairs (MPI_DOUBLE_INT and others; MPI 4.0, 6.9.4).

namespace margay::mpi {

// The pair type of which a derived datatype consists entirely; 0 if there is none.
[[nodiscard]] MPI_Datatype pair_of(const TypeDefinition& definition);
// Whether a pair type has padding, so the data of an element is not MPI_Type_size consecutive bytes. False for MPI_2INT
// and MPI_FLOAT_INT, whose parts are consecutive.
[[nodiscard]] bool is_padded_pair(MPI_Datatype type);
// Accumulates one element at a time, because the bytes of a padded pair are not consecutive in memory, and a piece of
// the packed data may contain parts of two elements. `pair`: the elements' type. Requires: `access` is checked, and all
// its types' elements are `pair`.
void accumulate_pairs(Rma& rma, Window& window, const Access& access, const AccumulateOperands& operands,
                      const OriginData& origin, const Datatype& pair);

}  // namespace margay::mpi

namespace margay::mpi {

// MPI_Put and MPI_Get; with a request MPI_Rput and MPI_Rget, which only epochs of MPI_Win_lock and MPI_Win_lock_all
// allow (MPI_ERR_RMA_SYNC otherwise). The form without a request tries the fast path first (fast_path.hpp).
[[nodiscard]] int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments);
[[nodiscard]] int access_call(const Invocation& name, Direction direction, const AccessArguments& arguments,
                              MPI_Request* request);

// The result buffer of an accumulate; its other arguments are an AccessArguments.
struct ResultArguments {
  void* result = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // The call has a result (MPI_Get_accumulate and others); false: MPI_Accumulate.
  bool wanted = false;
  bool one_element = false;  // of a predefined datatype (MPI_Fetch_and_op, MPI_Compare_and_swap)
};
// All accumulates but MPI_Compare_and_swap. An operation of the program is MPI_ERR_OP; elements of different predefined
// types are MPI_ERR_TYPE (MPI 4.0, 12.3.4).
[[nodiscard]] int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op,
                                  const ResultArguments& result);
[[nodiscard]] int accumulate_call(const Invocation& name, const AccessArguments& arguments, MPI_Op op,
                                  const ResultArguments& result, MPI_Request* request);
// MPI_Compare_and_swap. One integer, logical or byte (MPI_ERR_TYPE otherwise); never with a request.
[[nodiscard]] int swap_call(const Invocation& name, const AccessArguments& arguments, const void* compare,
                            void* result);

}  // namespace margay::mpi

// Defines the bindings of an access, each with its twin for large counts: MPI_X as work(name, arguments...), and
// MPI_RX, whose last parameter is a request, as work(name, arguments..., request).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): several names made of one.
#define MARGAY_ACCESS(name, request_name, parameters, work, ...)              \
  MARGAY_TWINS(name, parameters, { return work(called, __VA_ARGS__); })       \
  MARGAY_TWINS(request_name, (MARGAY_LIST parameters, MPI_Request * request), \
               { return work(called, __VA_ARGS__, request); })
