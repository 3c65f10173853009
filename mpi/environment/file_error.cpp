#include "mpi/environment/file_error.hpp"

#include "mpi_adi/rank/object_tables.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

int raise_on_file(MpiRank& rank, const CallName& name, int code) {
  // The handler and the code's text are copied inside the rank; the handler runs outside.
  rank.enter();
  const ErrorHandlerPtr handler = rank.tables().file_handler;
  const int error_class = rank.errors().class_of(code);
  const std::string text = rank.errors().text_of(code);
  rank.leave();
  // A predefined handler: it returns, or ends the job.
  if (handler->function == nullptr) {
    if (handler->handle == MPI_ERRORS_RETURN) return code;
    rank.process().abort(error_class, words_of_fatal(rank, name, "", text));
  }
  MPI_File file = MPI_FILE_NULL;
  reinterpret_cast<MPI_File_errhandler_function*>(handler->function)(&file, &code, name.text);
  return code;
}

}  // namespace margay::mpi
