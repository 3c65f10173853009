// Error handlers of communicators (MPI 4.0, chapter 9.3).
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

namespace {

int set_handler(Call& call, MPI_Comm comm, MPI_Errhandler handler) {
  Communicator* communicator = call.communicator(comm);
  if (call.ok() && handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ABORT) {
    call.error(MPI_ERR_ARG, handler == MPI_ERRHANDLER_NULL ? "the error handler is MPI_ERRHANDLER_NULL"
                                                           : "the error handler is none of this process");
  }
  if (call.ok()) communicator->error_handler = handler;
  return call.done();
}

int get_handler(Call& call, MPI_Comm comm, MPI_Errhandler* handler) {
  const Communicator* communicator = call.communicator(comm);
  call.not_null(handler, "errhandler");
  if (call.ok()) *handler = communicator->error_handler;
  return call.done();
}

}  // namespace

extern "C" int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Comm_set_errhandler">);
  return set_handler(call, comm, errhandler);
}
MARGAY_ALIAS(Comm_set_errhandler)

extern "C" int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Comm_get_errhandler">);
  return get_handler(call, comm, errhandler);
}
MARGAY_ALIAS(Comm_get_errhandler)

extern "C" int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Errhandler_set">);
  return set_handler(call, comm, errhandler);
}
MARGAY_ALIAS(Errhandler_set)

extern "C" int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Errhandler_get">);
  return get_handler(call, comm, errhandler);
}
MARGAY_ALIAS(Errhandler_get)

// The predefined handlers are never freed; a program's handle to one is only given back.
extern "C" int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Errhandler_free">);
  call.not_null(errhandler, "errhandler");
  if (call.ok() && *errhandler == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_ARG, "the error handler is MPI_ERRHANDLER_NULL");
  }
  if (call.ok()) *errhandler = MPI_ERRHANDLER_NULL;
  return call.done();
}
MARGAY_ALIAS(Errhandler_free)
