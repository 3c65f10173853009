#include "collectives/mpi/arguments.hpp"

#include "mpi_adi/mpi/receive_call.hpp"

namespace margay::collectives {

namespace {

// With --check-types: what the calls were is told before this one's error ends the job. It is known when all members
// have called, of which some may never do so.
void let_the_check_speak(mpi_adi::Call& call) {
  CallCheck* const check = collectives_of(call).check();
  if (check == nullptr) return;
  constexpr std::uint64_t kPatienceNs = 3'000'000'000;
  sim::Process& process = call.rank().process();
  const std::uint64_t began = process.clock().now_ns();
  check->settle([&] { return process.clock().now_ns() - began >= kPatienceNs || process.kernel().losses() != 0; });
}

}  // namespace

void check_buffers(mpi_adi::Call& call, const void* send, const void* receive, std::int64_t count) {
  if (!call.ok() || count == 0) return;
  if (receive == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the receive buffer is MPI_IN_PLACE; that stands for the send buffer");
  } else if (send == receive) {
    call.error(MPI_ERR_BUFFER, "send and receive buffer are the same; say MPI_IN_PLACE for the send buffer");
  }
}

void note_error(mpi_adi::Call& call, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return;
  if (error_class == MPI_ERR_TRUNCATE) let_the_check_speak(call);
  call.error(error_class, error_class == MPI_ERR_TRUNCATE ? kDifferentCalls : mpi_adi::words_of_lost(call.rank()));
}

}  // namespace margay::collectives
