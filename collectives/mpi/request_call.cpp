#include "collectives/mpi/request_call.hpp"

namespace margay::collectives {

int give_request(mpi_adi::Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  mpi_adi::Communicator& communicator = *task->communicator;
  mpi_adi::UserRequest* const made = add_own_request(call, communicator);
  if (!call.ok()) return call.failed();
  *request = made->handle;
  task->name_it(call.name());
  if (form == Form::persistent) {
    made->persistent = true;
    ++communicator.references;
    made->call = {};
    made->own = task.release();
    return call.done();
  }
  CallTask& begun = *task.release();
  made->device = &begun;
  begun.start(call.rank());
  return call.done();
}

}  // namespace margay::collectives
