// What the bindings of accesses call: whole calls.
#pragma once

#include "mpi/call/binding.hpp"
#include "mpi/call/call_name.hpp"
#include "mpi/one_sided/arguments.hpp"

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
