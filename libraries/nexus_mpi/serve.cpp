#include "libraries/nexus_mpi/serve.hpp"

#include <sched.h>

#include <string>

#include "libraries/nexus_mpi/matching.hpp"

namespace margay::nexus_mpi {
namespace {

// Polls without a result before each yield of the processor.
constexpr int kPollsPerYield = 16;
constexpr std::size_t kTruncationsMost = 64;

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

int error_code(const Request& request, const char* call) {
  if (request.error != MPI_ERR_TRUNCATE) return request.error;
  std::deque<int>& codes = layer->truncations;
  int code = MPI_ERR_TRUNCATE;
  if (codes.size() == kTruncationsMost) {
    code = codes.front();
    codes.pop_front();
  } else if (PMPI_Add_error_code(MPI_ERR_TRUNCATE, &code) != MPI_SUCCESS) {
    return MPI_ERR_TRUNCATE;
  }
  codes.push_back(code);
  const std::string text = "MPI_ERR_TRUNCATE: " + std::string(call) + ": the message from rank " +
                           std::to_string(request.source) + " with tag " + std::to_string(request.tag) + " has " +
                           std::to_string(request.sent_bytes) + " bytes, and the receive's buffer " +
                           std::to_string(packed_bytes(request.place));
  PMPI_Add_error_string(code, text.c_str());
  return code;
}

}  // namespace margay::nexus_mpi
