#include "mpi/collective/request_call.hpp"

#include "collectives/comm/agree.hpp"

namespace margay::mpi {

namespace {

// Opens the call's channel. Initialization is collective and may wait for the other members (MPI 4.0, 6.13), so it may
// agree with them on free channels. Each agreement covers a part of the channels; when none is left, all channels are
// in use.
void be_persistent(Call& call, CallTask& task) {
  constexpr std::uint64_t kAgreements = (std::uint64_t{1} << CallNumber::kChannelBits) / CallNumber::kChannelsAtOnce;
  for (std::uint64_t agreed = 0; !task.be_persistent(); ++agreed) {
    if (agreed == kAgreements) {
      return call.error(MPI_ERR_OTHER,
                        "2^20 persistent collectives of the communicator were not freed yet; free some of them first");
    }
    const int error_class = agree_on_channels(call.rank(), task.communicator->all_members());
    if (error_class != MPI_SUCCESS) return record_error(call, error_class);
  }
}

}  // namespace

// The handle first: without one, the task must not begin, as nothing could complete it.
void begin_request(Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  Communicator& communicator = *task->communicator;
  task->name_it(call.name());
  UserRequest* const made = add_request_handle(call, communicator);
  if (!call.ok()) return;
  // The handle keeps the task between starts, and the communicator with it.
  if (form == Form::persistent) {
    be_persistent(call, *task);
    if (!call.ok()) return call.rank().handles().free_request(*made);
    *request = made->handle;
    made->persistent = true;
    ++communicator.references;
    // No datatype: free_request() would release one that an earlier use of the entry has left.
    made->call = {};
    made->upper = task.release();
    return;
  }
  *request = made->handle;
  CallTask& begun = *task.release();
  made->device = &begun;
  // Last: start() may let other threads in, which must find a request with its operation.
  begun.start(call.rank());
}

}  // namespace margay::mpi
