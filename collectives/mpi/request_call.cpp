#include "collectives/mpi/request_call.hpp"

namespace margay::collectives {

void begin_request(mpi_adi::Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  mpi_adi::Communicator& communicator = *task->communicator;
  task->name_it(call.name());
  mpi_adi::UserRequest* const made = add_own_request(call, communicator);
  if (!call.ok()) return;
  if (form == Form::persistent) {
    if (!task->be_persistent()) {
      call.rank().handles().free_request(*made);
      return call.error(MPI_ERR_OTHER,
                        "2^20 persistent collectives were made on the communicator after one that is "
                        "still there; free the old one first");
    }
    *request = made->handle;
    made->persistent = true;
    ++communicator.references;
    made->call = {};
    made->own = task.release();
    return;
  }
  *request = made->handle;
  CallTask& begun = *task.release();
  made->device = &begun;
  begun.start(call.rank());
}

}  // namespace margay::collectives
