#include "mpi/call/fatal_error.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/boot/findings.hpp"
#include "sim/machine/process.hpp"
#include "sim/shm/published.hpp"

namespace margay::mpi {

sim::Finding finding_of_error(int error_class) {
  switch (error_class) {
    case MPI_ERR_RMA_CONFLICT:
      return sim::Finding::rma_conflict;
    case MPI_ERR_TRUNCATE:
      return sim::Finding::truncation;
    case MPI_ERR_NO_MEM:
      return sim::Finding::out_of_memory;
    case MPIX_ERR_PROC_FAILED:
    case MPIX_ERR_PROC_FAILED_PENDING:
    case MPIX_ERR_REVOKED:
      return sim::Finding::peer_failed;
    case MPI_ERR_UNSUPPORTED_OPERATION:
      return sim::Finding::unimplemented_function;
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_TAG:
    case MPI_ERR_COMM:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
    case MPI_ERR_GROUP:
    case MPI_ERR_OP:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_DIMS:
    case MPI_ERR_ARG:
    case MPI_ERR_REQUEST:
    case MPI_ERR_INFO:
    case MPI_ERR_INFO_KEY:
    case MPI_ERR_INFO_VALUE:
    case MPI_ERR_KEYVAL:
    case MPI_ERR_WIN:
    case MPI_ERR_BASE:
    case MPI_ERR_SIZE:
    case MPI_ERR_DISP:
    case MPI_ERR_LOCKTYPE:
    case MPI_ERR_ASSERT:
    case MPI_ERR_RMA_RANGE:
    case MPI_ERR_RMA_FLAVOR:
    case MPI_ERR_SESSION:
    case MPI_ERR_NOT_SAME:
    case MPI_ERR_INFO_NOKEY:
    case MPI_ERR_PORT:
    case MPI_ERR_SERVICE:
    case MPI_ERR_NAME:
    case MPI_ERR_FILE:
    case MPI_ERR_AMODE:
    case MPI_ERR_BAD_FILE:
    case MPI_ERR_DUP_DATAREP:
    case MPI_ERR_UNSUPPORTED_DATAREP:
      return sim::Finding::bad_argument;
    default:
      return sim::Finding::mpi_error;
  }
}

// Removes the function's name from `text`. The text of an error code that margay made begins with the name, but the
// message already has it in front of the location.
std::string fatal_sentence(mpi_adi::MpiRank& rank, const CallName& name, const std::string& where, std::string text) {
  const std::string called = name.text;
  for (const std::string& again : {called + ": ", called + " "}) {
    if (const std::size_t at = text.find(again); at != std::string::npos) {
      text.erase(at, again.size());
      break;
    }
  }
  return called + rank.process().source_lines().location_suffix(sim::call_from_program()) + " failed" + where + ": " +
         text;
}

sim::FindingRecord error_record(const CallName& name, std::string_view location_suffix, sim::FindingRecord record) {
  sim::set_name(record.call, name.text);
  sim::set_site(record, location_suffix);
  return record;
}

namespace {

constinit sim::FirstThread first_fatal_thread;

// Whether this call is the first fatal error of the process: only the first is a finding. False for a later one of the
// same thread, in a signal handler or an exit handler. Does not return for a later one of another thread. That thread
// ends here, and does not wait: the first one may be in exit(), where an exit handler joins the others. It ends without
// destructors, because their locks may be those of the first thread.
bool is_first_end() {
  const std::int32_t self = ::gettid();
  const std::int32_t first = first_fatal_thread.claim(self);
  while (first != 0 && first != self) ::syscall(SYS_exit, 0);
  return first == 0;
}

}  // namespace

void abort_by_error(mpi_adi::MpiRank& rank, const CallName& name, int error_class, sim::Finding finding,
                    const std::string& where, const std::string& text, const sim::FindingRecord& record) {
  const bool is_first = is_first_end();
  sim::Process& process = rank.process();
  const std::string message = fatal_sentence(rank, name, where, text);
  if (finding != sim::Finding::rma_conflict && is_first) {
    const std::string site = process.source_lines().location_suffix(sim::call_from_program());
    process.findings().add(finding, error_record(name, site, record), message);
  }
  process.abort(error_class, message, finding);
}

void abort_outside(mpi_adi::MpiRank& rank, const CallName& name, int error_class, const std::string& where,
                   const std::string& text) {
  const bool is_first = is_first_end();
  sim::Process& process = rank.process();
  const std::string message = fatal_sentence(rank, name, where, text);
  const sim::Finding finding = finding_of_error(error_class);
  const std::string site = process.source_lines().location_suffix(sim::call_from_program());
  if (is_first) process.findings().add_outside(finding, error_record(name, site), message);
  process.abort(error_class, message, finding);
}

std::string no_rank_text() {
  if (mpi_adi::is_thread_without_rank()) {
    return "was called in a thread that belongs to no rank (margay run --threads); call it in the rank's thread";
  }
  return mpi_adi::current_process().init_state() == mpi_adi::InitState::finalized
             ? "was called after MPI_Finalize; move the call before MPI_Finalize"
             : "was called before MPI_Init; call MPI_Init or MPI_Init_thread first";
}

// If ranks are threads, two of them may call this at once, but two concurrent calls of exit() are undefined behaviour.
// So the second thread pauses until the first one has ended the process.
void exit_process(int status) {
  // The thread that has called exit(); 0: none.
  static constinit std::int32_t exiting = 0;
  const std::int32_t me = ::gettid();
  const std::int32_t other = sim::claim_for_process(exiting, me);
  // The thread that has called exit() may call this again in an exit handler; it must not wait for itself. In a process
  // that is one rank, no second rank can be in exit().
  while (other != 0 && other != me && &mpi_adi::current_process() != &mpi_adi::system_process()) ::pause();
  std::exit(status);
}

namespace {

[[noreturn]] void exit_at(const CallName& name, const std::string& site, sim::Finding finding,
                          const std::string& text) {
  // In an exit handler of this very exit, or in a signal handler that interrupted it.
  if (!is_first_end()) std::exit(1);
  const std::string message = name.text + site + " " + text;
  sim::record_without_rank(finding, error_record(name, site), message, mpi_adi::current_process().thread_rank());
  std::fprintf(stderr, "margay: %s%s\n", message.c_str(), id_suffix(finding).c_str());
  exit_process(1);
}

}  // namespace

void exit_by_error(const CallName& name, sim::Finding finding, const std::string& text) {
  exit_at(name, sim::SourceLines().location_suffix(sim::call_from_program()), finding, text);
}

void exit_by_failure(const CallName& name, const std::string& text) {
  exit_at(name, {}, sim::Finding::mpi_error, text);
}

}  // namespace margay::mpi
