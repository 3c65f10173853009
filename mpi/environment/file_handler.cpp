// Error handlers of files (MPI 4.0, 9.3.3 and 14.7). No file can be opened, so only MPI_FILE_NULL has a handler, the
// first handler of all files. Programs read and set it; programs in C++ do so when they start.
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/environment/file_error.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

namespace {

void check_file(Call& call, MPI_File file) {
  if (file == MPI_FILE_NULL) return;
  call.error(MPI_ERR_FILE, "the file is not MPI_FILE_NULL, and none can be open: files are not in this version");
}

}  // namespace

extern "C" int PMPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
                                           MPI_Errhandler* errhandler) {
  return create_early_handler(call_name<"MPI_File_create_errhandler">, ObjectType::file,
                              reinterpret_cast<HandlerFunction>(file_errhandler_fn), "file_errhandler_fn", errhandler);
}
MARGAY_ALIAS(File_create_errhandler)

extern "C" int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_File_set_errhandler">);
  check_file(call, file);
  const ErrorHandlerPtr handler = checked_handler(call, errhandler, ObjectType::file);
  if (call.ok()) call.rank().tables().file_handler = handler;
  return call.done();
}
MARGAY_ALIAS(File_set_errhandler)

extern "C" int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_File_get_errhandler">);
  check_file(call, file);
  call.not_null(errhandler, "errhandler");
  if (!call.ok()) return call.failed();
  ObjectTables& tables = call.rank().tables();
  // A new reference, which MPI_Errhandler_free drops.
  const MPI_Errhandler handed_out = tables.error_handlers.hand_out(tables.file_handler);
  if (handed_out == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    *errhandler = handed_out;
  }
  return call.done();
}
MARGAY_ALIAS(File_get_errhandler)

extern "C" int PMPI_File_call_errhandler(MPI_File fh, int errorcode) {
  {
    Call call(call_name<"MPI_File_call_errhandler">);
    check_file(call, fh);
    if (call.ok() && !call.rank().errors().is_code(errorcode))
      call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is not an error code");
    if (!call.ok()) return call.failed();
  }
  // After the call has left the rank, as the handler runs outside.
  // The program gave the code.
  static_cast<void>(raise_on_file(*current_rank(), call_name<"MPI_File_call_errhandler">, errorcode,
                                  margay::sim::Finding::mpi_error));
  return MPI_SUCCESS;
}
MARGAY_ALIAS(File_call_errhandler)
