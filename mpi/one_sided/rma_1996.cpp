// One-sided communication by the proposal of April 1996 (paper 001, section 4; margay/mpi_rma_1996.h): one communicator
// serves two-sided and one-sided communication, and puts and gets are always messages.
#include "collectives/comm/window.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi/one_sided/rma_request.hpp"

#pragma GCC visibility push(default)
#include "mpi_adi/abi/mpi_rma_1996.h"
#include "mpi_adi/rma/rma.hpp"
#pragma GCC visibility pop

using namespace margay::mpi;

namespace {

// The arguments of an access as the program passed them. Counts are ints: the proposal has no large ones.
struct Arguments1996 {
  const void* origin;
  int origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  int target_count;
  MPI_Datatype target_type;
  MPI_Comm comm;
};

enum class Moves : std::uint8_t { there, here };

// The window of a communicator of MPI_RMA_init; nullptr after an error.
Window* window_of_communicator(Call& call, MPI_Comm comm) {
  const Communicator* const communicator = call.communicator(comm);
  if (communicator == nullptr) return nullptr;
  Window* const window = call.rank().rma().window_of(*communicator);
  if (window == nullptr || !window->by_messages) {
    call.error(MPI_ERR_COMM, "the communicator was not made by MPI_RMA_init");
    return nullptr;
  }
  return window;
}

// Checks an access. Returns false after an error, and if there is nothing to move.
bool check(Call& call, const Arguments1996& arguments, const Window* window, Access& access) {
  if (window == nullptr) return false;
  access.type = call.datatype(arguments.origin_type, arguments.origin_count);
  access.target_type = call.datatype(arguments.target_type, arguments.target_count);
  if (!call.ok()) return false;
  call.buffer(arguments.origin, arguments.origin_count, access.type, "the origin's buffer");
  static_cast<void>(call.elements(arguments.target_count, *access.target_type));
  if (!checked_target(call, window, arguments.target)) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(arguments.origin_count) * access.type->size;
  if (bytes != static_cast<std::uint64_t>(arguments.target_count) * access.target_type->size) {
    call.error(MPI_ERR_ARG,
               "the origin's elements are " + std::to_string(bytes) + " bytes, the target's " +
                   std::to_string(static_cast<std::uint64_t>(arguments.target_count) * access.target_type->size));
  }
  access.buffer = const_cast<void*>(arguments.origin);  // a put only reads it
  access.count = arguments.origin_count;
  access.target = arguments.target;
  access.target_count = arguments.target_count;
  if (!call.ok() || bytes == 0) return false;
  return check_range(call, *window, arguments.target, arguments.displacement, arguments.target_count,
                     *access.target_type, access.offset);
}

// Begins the access. A put to this rank itself is received at once.
void move(Call& call, Moves how, Window& window, const Access& access) {
  wait_for_room(call);
  Rma& rma = call.rank().rma();
  if (how == Moves::here) return rma.get(window, access);
  rma.put(window, access);
  if (access.target == window.rank()) static_cast<void>(call.device().progress(Device::kMessagesPerLook));
}

// MPI_RMA_put and MPI_RMA_get: return when the origin's buffer may be used again.
int blocking(const Invocation& name, Moves how, const Arguments1996& arguments) {
  Call call(name);
  Window* const window = window_of_communicator(call, arguments.comm);
  Access access;
  if (!check(call, arguments, window, access)) return call.done();
  move(call, how, *window, access);
  // A put is complete when its buffer is free again, a get when the data has arrived.
  how == Moves::there ? wait_until_sent(call, window->target(arguments.target))
                      : wait_for_accesses(call, *window, arguments.target);
  if (call.ok()) report_errors(call, *window);
  return call.done();
}

// MPI_RMA_iput and MPI_RMA_iget.
int nonblocking(const Invocation& name, Moves how, const Arguments1996& arguments, MPI_Request* request) {
  Call call(name);
  Window* const window = window_of_communicator(call, arguments.comm);
  call.not_null(request, "request");
  Access access;
  const bool moves = check(call, arguments, window, access);
  if (!call.ok()) return call.failed();
  UserRequest* const made = add_request_handle(call, *window->communicator);
  if (made == nullptr) return call.failed();
  auto* const begun = new RmaRequest(call.device(), *window->communicator);
  made->device = begun;
  *request = made->handle;
  access.request = &begun->outstanding();
  if (moves) move(call, how, *window, access);
  // Also without data: the request is then complete at once.
  begun->finish_start();
  return call.done();
}

}  // namespace

// Makes a communicator with a window, for two-sided and one-sided communication.
int MPI_RMA_init(void* base, MPI_Aint size, int disp_unit, MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_RMA_init">);
  Communicator* const communicator = call.intracommunicator(comm);
  call.not_null(newcomm, "newcomm");
  if (size < 0) call.error(MPI_ERR_SIZE, "size is " + std::to_string(size) + ", below 0");
  if (disp_unit <= 0) call.error(MPI_ERR_DISP, "disp_unit is " + std::to_string(disp_unit) + "; it is above 0");
  if (base == nullptr && size > 0) call.error(MPI_ERR_BASE, "base is a null pointer");
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  Exposed exposed{.base = base, .size = size, .unit = disp_unit};
  // Accesses are messages, and the program has the window's communicator.
  exposed.of_1996 = true;
  const MadeWindow made = make_window(call.rank(), *communicator, exposed);
  *newcomm = made.window == nullptr ? MPI_COMM_NULL : made.window->communicator_handle;
  if (made.window == nullptr && made.error_class == MPI_ERR_OTHER) {
    call.error(MPI_ERR_OTHER, "too many windows or communicators are alive; free some first");
  } else {
    record_error(call, made.error_class);
  }
  return call.done();
}

// A barrier, so that no member frees its memory before all accesses to it are complete.
int MPI_RMA_free(MPI_Comm* comm) {
  Call call(call_name<"MPI_RMA_free">);
  call.not_null(comm, "comm");
  Window* const window = call.ok() ? window_of_communicator(call, *comm) : nullptr;
  if (!call.ok()) return call.failed();
  flush_all(call, *window);
  record_error(call, perform(collectives_of(call), *window->communicator, BarrierCall{}));
  destroy_window(call.rank(), *window);
  *comm = MPI_COMM_NULL;
  return call.done();
}

int MPI_RMA_put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm) {
  return blocking(
      call_name<"MPI_RMA_put">, Moves::there,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, comm});
}
int MPI_RMA_get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm) {
  return blocking(
      call_name<"MPI_RMA_get">, Moves::here,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, comm});
}
int MPI_RMA_iput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm,
                 MPI_Request* request) {
  return nonblocking(
      call_name<"MPI_RMA_iput">, Moves::there,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, comm},
      request);
}
int MPI_RMA_iget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm,
                 MPI_Request* request) {
  return nonblocking(
      call_name<"MPI_RMA_iget">, Moves::here,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, comm},
      request);
}
