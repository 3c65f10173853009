#include "mpi/environment/file_error.hpp"

#include "mpi/call/fatal_error.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

bool file_handler_is_fatal(MpiRank& rank) {
  const ErrorHandlerPtr& handler = rank.tables().file_handler;
  return handler->function == nullptr && handler->handle != MPI_ERRORS_RETURN;
}

int raise_on_file(MpiRank& rank, const CallName& name, int code, sim::Finding finding) {
  rank.enter();
  const ErrorHandlerPtr handler = rank.tables().file_handler;
  if (file_handler_is_fatal(rank)) {
    abort_by_error(rank, name, rank.errors().class_of(code), finding, "", rank.errors().text_of(code));
  }
  rank.leave();
  // The handler runs outside, because it may call MPI.
  if (handler->function == nullptr) return code;
  MPI_File file = MPI_FILE_NULL;
  reinterpret_cast<MPI_File_errhandler_function*>(handler->function)(&file, &code, name.text);
  return code;
}

}  // namespace margay::mpi
