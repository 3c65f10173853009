#include "mpi/unsupported/unsupported.hpp"

#include <cstdio>
#include <string>

#include "mpi/call/fatal_error.hpp"
#include "mpi/environment/file_error.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

constexpr char kSentence[] =
    "is not supported: this version of margay has it by name only (docs/mpi_coverage.md lists what is done; `margay "
    "check PROGRAM` finds such functions before a run)";

void print(const std::string& message) {
  std::fprintf(stderr, "margay: %s%s\n", message.c_str(), id_suffix(sim::Finding::unimplemented_function).c_str());
}

// Prints and records the finding while MPI does not run.
void report_without_rank(const CallName& name) {
  const std::string site = sim::SourceLines().location_suffix(sim::call_from_program());
  const std::string message = name.text + site + " " + kSentence;
  sim::record_without_rank(sim::Finding::unimplemented_function, error_record(name, site), message,
                           current_process().thread_rank());
  print(message);
}

// The same in a rank. Requires: the rank is entered.
void report_in(MpiRank& rank, const CallName& name) {
  const std::string site = rank.process().source_lines().location_suffix(sim::call_from_program());
  const std::string message = name.text + site + " " + kSentence;
  rank.process().findings().add(sim::Finding::unimplemented_function, error_record(name, site), message);
  print(message);
}

}  // namespace

// Calls the communicator's handler only if the handle is valid. The other arguments of the function are not checked.
int unsupported(const Invocation& name, MPI_Comm comm) {
  if (current_rank() == nullptr) {
    report_without_rank(name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
  }
  Call call(name);
  if (Communicator* const found = call.rank().communicator(comm); found != nullptr) call.on(*found);
  call.error(MPI_ERR_UNSUPPORTED_OPERATION, kSentence);
  return call.failed();
}

int unsupported_on_file(const CallName& name) {
  MpiRank* const rank = current_rank();
  if (rank == nullptr) {
    report_without_rank(name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
  }
  rank->enter();
  // Reported even where the handler is MPI_ERRORS_RETURN: few programs check the code of a file function. A fatal
  // handler reports the error itself.
  if (!file_handler_is_fatal(*rank)) report_in(*rank, name);
  const int code = rank->errors().make(MPI_ERR_UNSUPPORTED_OPERATION, std::string(name.text) + " " + kSentence);
  rank->leave();
  return raise_on_file(*rank, name, code, sim::Finding::unimplemented_function);
}

// Without a rank there is no job to end: only this process exits.
void unsupported_at_all(const CallName& name) {
  MpiRank* const rank = current_rank();
  if (rank == nullptr) exit_by_error(name, sim::Finding::unimplemented_function, kSentence);
  rank->enter();
  abort_by_error(*rank, name, MPI_ERR_UNSUPPORTED_OPERATION, sim::Finding::unimplemented_function, "", kSentence);
}

}  // namespace margay::mpi

// Names that MPICH's library exports beside those of mpi.h: functions by which its own libraries raise errors, and the
// interface for several tools at once. A program that calls one of the error functions ends with this message instead
// of the loader's. Arguments are not read, so none are declared.

using namespace margay::mpi;

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a function and its text out of one name.
#define MARGAY_REFUSING_INTERNAL(name)                          \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() {                                       \
    unsupported_at_all(call_name<#name>);                       \
  }                                                             \
  __attribute__((section("margay_refusing"), used)) static const char name##_name[] = #name;

MARGAY_REFUSING_INTERNAL(MPIR_Err_create_code)
MARGAY_REFUSING_INTERNAL(MPIR_Err_return_comm)
MARGAY_REFUSING_INTERNAL(MPIR_Err_return_win)

// Tools probe the interface for several tools by these functions. They get the error class, as from an MPICH built
// without the interface, and continue without it.
#pragma GCC visibility push(default)
extern "C" {
int QMPI_Get_calling_address() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Get_function() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Get_tool_storage() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_function() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_tool_name() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_tool_storage() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
}
#pragma GCC visibility pop
