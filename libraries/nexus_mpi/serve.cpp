#include "libraries/nexus_mpi/serve.hpp"

#include <sched.h>

#include <string>

#include "libraries/nexus_mpi/matching.hpp"

namespace margay::nexus_mpi {
namespace {

// Polls without a result before each yield of the processor.
constexpr int kPollsPerYield = 16;

}  // namespace

void serve_until(const std::function<bool()>& done) {
  for (;;) {
    send_answers();
    if (done()) return;
    nexus::wait_until([&done] { return done() || !layer->answers.empty(); });
  }
}

void serve() {
  nexus::poll();
  send_answers();
}

void poll_until(const std::function<bool()>& poll) {
  for (int polls = 1; !poll(); ++polls) {
    serve();
    if (polls % kPollsPerYield == 0) ::sched_yield();
  }
}

int serve_collective(const std::function<int(MPI_Request*)>& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = begin(&request);
  if (code != MPI_SUCCESS) return code;
  return guarded(MPI_COMM_WORLD, "a collective call", [&] {
    poll_until([&] {
      int is_complete = 0;
      code = PMPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
      return code != MPI_SUCCESS || is_complete != 0;
    });
    return code;
  });
}

int fail_on(MPI_Comm communicator, const char* call, const char* text) {
  int code = MPI_ERR_OTHER;
  if (PMPI_Add_error_code(MPI_ERR_OTHER, &code) == MPI_SUCCESS) {
    const std::string sentence = (std::string(call) + ": " + text).substr(0, MPI_MAX_ERROR_STRING - 1);
    PMPI_Add_error_string(code, sentence.c_str());
  }
  PMPI_Comm_call_errhandler(communicator, code);
  return code;
}

}  // namespace margay::nexus_mpi
