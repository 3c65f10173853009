#include "mpi/unsupported/unsupported.hpp"

#include "mpi/environment/file_error.hpp"
#include "sim/machine/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace margay::mpi {

namespace {

constexpr char kSentence[] =
    "is not supported: this version of margay has it by name only (docs/mpi_coverage.md lists what is done; `margay "
    "check PROGRAM` finds such functions before a run)";

void say(const CallName& name) {
  std::fprintf(stderr, "margay: %s %s\n", name.text, kSentence);
}

}  // namespace

int unsupported(const Invocation& name, MPI_Comm comm) {
  if (current_rank() == nullptr) {
    say(name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
  }
  Call call(name);
  if (Communicator* const found = call.rank().communicator(comm); found != nullptr) call.on(*found);
  call.error(MPI_ERR_UNSUPPORTED_OPERATION, kSentence);
  return call.failed();
}

int unsupported_on_file(const CallName& name) {
  say(name);
  MpiRank* const rank = current_rank();
  if (rank == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  rank->enter();
  const int code = rank->errors().make(MPI_ERR_UNSUPPORTED_OPERATION, std::string(name.text) + " " + kSentence);
  rank->leave();
  return raise_on_file(*rank, name, code);
}

void unsupported_at_all(const CallName& name) {
  MpiRank* const rank = current_rank();
  if (rank == nullptr) {
    say(name);
    std::exit(1);
  }
  rank->process().abort(MPI_ERR_UNSUPPORTED_OPERATION, words_of_fatal(*rank, name, "", kSentence));
}

}  // namespace margay::mpi
