// A function of MPI that the library has by name only: it fails with a sentence that names it.
//
//   extern "C" int PMPI_Win_fence(int, MPI_Win) { return unsupported(call_name<"MPI_Win_fence">); }
//   MARGAY_REFUSING(MPI_Win_fence)
#pragma once

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"

namespace margay::mpi {

// Raises MPI_ERR_UNSUPPORTED_OPERATION with the handler of `comm`, or of MPI_COMM_WORLD when `comm` is no living
// communicator. Returns the code if the handler lets it. Outside MPI_Init and MPI_Finalize: says the sentence on
// standard error and returns the class.
[[nodiscard]] int unsupported(const Invocation& name, MPI_Comm comm = MPI_COMM_NULL);

// Of a function on files: raised with MPI_FILE_NULL's handler. That is MPI_ERRORS_RETURN at first (MPI 4.0, 14.7), so
// the code is returned; as few programs look at it, the sentence is also said on standard error.
[[nodiscard]] int unsupported_on_file(const CallName& name);

// Ends the job with the sentence, whatever handlers there are.
[[noreturn]] void unsupported_at_all(const CallName& name);

}  // namespace margay::mpi

// The weak name, as MARGAY_ALIAS makes it, and the function's name in the section from which `margay check` reads what
// a program must not call. What GNU's linker prints of a call is in objects of their own (cmake/libmpi.cmake).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a name made a symbol and a text.
#define MARGAY_REFUSING(name)                                                                       \
  extern "C" __attribute__((weak, visibility("default"), alias("P" #name))) decltype(P##name) name; \
  __attribute__((section("margay_refusing"), used)) static const char name##_name[] = #name;
