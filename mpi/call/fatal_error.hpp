// The end of a job by an MPI call that failed and whose error handler is fatal (MPI 4.0, 9.3).
#pragma once

#include <string>
#include <string_view>

#include "mpi/call/call_name.hpp"
#include "sim/boot/findings.hpp"

namespace margay::mpi_adi {
class MpiRank;
}  // namespace margay::mpi_adi

namespace margay::mpi {

// The message: "MPI_Recv (ring.c:41) failed on MPI_COMM_WORLD: MPI_ERR_TRUNCATE: ...". `where` begins with a space, or
// is empty; `text` explains the error, with or without the function's name.
[[nodiscard]] std::string fatal_sentence(mpi_adi::MpiRank& rank, const CallName& name, const std::string& where,
                                         std::string text);

// `record` with a call's name and location. `location_suffix`: SourceLines::location_suffix(), or empty.
[[nodiscard]] sim::FindingRecord error_record(const CallName& name, std::string_view location_suffix,
                                              sim::FindingRecord record = {});

// The finding of an error that margay itself detected. The finding of an error whose number or class the program gave
// (by a callback, or MPI_Comm_call_errhandler) is always mpi_error.
[[nodiscard]] sim::Finding finding_of_error(int error_class);

// Records the finding and ends the job with the message. `record`: the fields that only the caller knows. An
// rma_conflict is not recorded here, because its check has recorded it. Requires: this thread is inside the rank.
[[noreturn]] void abort_by_error(mpi_adi::MpiRank& rank, const CallName& name, int error_class, sim::Finding finding,
                                 const std::string& where, const std::string& text,
                                 const sim::FindingRecord& record = {});
// The same for a thread that must not enter the rank. The finding is not in the rank's trace.
[[noreturn]] void abort_outside(mpi_adi::MpiRank& rank, const CallName& name, int error_class, const std::string& where,
                                const std::string& text);
// Why the calling thread has no rank, and the cure: the text of exit_by_error() for a call that needs a rank.
[[nodiscard]] std::string no_rank_text();
// Ends the process by exit(). If its ranks are threads (mpi/process/threads), two of them may call this at once: the
// second one then waits for the end.
[[noreturn]] void exit_process(int status);
// Ends a process that has no rank, with status 1: prints "margay: NAME (ring.c:41) TEXT", and records the finding.
// exit_by_failure() prints no location: finding one needs memory and a process, and MPI_Init may have failed for lack
// of these.
[[noreturn]] void exit_by_error(const CallName& name, sim::Finding finding, const std::string& text);
[[noreturn]] void exit_by_failure(const CallName& name, const std::string& text);

}  // namespace margay::mpi
