// A function of MPI that the library has by name only: it links, but fails with an error that names it.
//
//   extern "C" int PMPI_Win_fence(int, MPI_Win) { return unsupported(call_name<"MPI_Win_fence">); }
//   MARGAY_REFUSING(MPI_Win_fence)
#pragma once

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"

namespace margay::mpi {

// Raises MPI_ERR_UNSUPPORTED_OPERATION with the handler of `comm` or, if `comm` is invalid, with the handler for errors
// without an object. Returns the code if the handler returns. While MPI does not run: prints the message and returns
// the class.
[[nodiscard]] int unsupported(const Invocation& name, MPI_Comm comm = MPI_COMM_NULL);

// The same for a function on files, with MPI_FILE_NULL's handler. The first such handler is MPI_ERRORS_RETURN (MPI 4.0,
// 14.7), and few programs check the code, so the message is also printed.
[[nodiscard]] int unsupported_on_file(const CallName& name);

// Ends the job with the message, whatever error handlers are set. Without a rank it ends only this process, with status
// 1.
[[noreturn]] void unsupported_at_all(const CallName& name);

}  // namespace margay::mpi

// Defines the weak name, as MARGAY_ALIAS does, and puts the function's name into the section from which `margay check`
// reads the functions that a program must not call. The linker's warnings are in objects of their own
// (cmake/libmpi.cmake).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a name made a symbol and a text.
#define MARGAY_REFUSING(name)                                                                       \
  extern "C" __attribute__((weak, visibility("default"), alias("P" #name))) decltype(P##name) name; \
  __attribute__((section("margay_refusing"), used)) static const char name##_name[] = #name;
