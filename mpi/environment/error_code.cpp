// Error classes, codes and strings: the library's, and those that a program adds (MPI 4.0, 9.4 and 9.5; the functions
// that remove them are MPICH's).
#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"

using namespace margay::mpi;

namespace {

// The rank's table. While there is no rank: a table that has only the library's classes, and no messages.
const ErrorTable& table_of(EarlyCall& call) {
  static const ErrorTable& bare = *new ErrorTable();  // never destroyed, as threads may use it while the process exits
  return call.rank() != nullptr ? call.rank()->errors() : bare;
}

void check_code(EarlyCall& call, int code) {
  if (call.ok() && !table_of(call).is_code(code))
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(code) + " is not an error code");
}

}  // namespace

extern "C" int PMPI_Error_class(int errorcode, int* errorclass) {
  EarlyCall call(call_name<"MPI_Error_class">);
  call.not_null(errorclass, "errorclass");
  check_code(call, errorcode);
  if (call.ok()) *errorclass = table_of(call).class_of(errorcode);
  return call.done();
}
MARGAY_ALIAS(Error_class)

extern "C" int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  EarlyCall call(call_name<"MPI_Error_string">);
  call.not_null(string, "string");
  call.not_null(resultlen, "resultlen");
  check_code(call, errorcode);
  if (!call.ok()) return call.failed();
  const std::string text = table_of(call).text_of(errorcode);  // shorter than MPI_MAX_ERROR_STRING
  std::memcpy(string, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return call.done();
}
MARGAY_ALIAS(Error_string)

extern "C" int PMPI_Add_error_class(int* errorclass) {
  Call call(call_name<"MPI_Add_error_class">);
  call.not_null(errorclass, "errorclass");
  if (call.ok()) *errorclass = call.rank().errors().add_class();
  return call.done();
}
MARGAY_ALIAS(Add_error_class)

extern "C" int PMPI_Add_error_code(int errorclass, int* errorcode) {
  Call call(call_name<"MPI_Add_error_code">);
  call.not_null(errorcode, "errorcode");
  if (!call.ok()) return call.failed();
  // MPI_ERR_UNKNOWN is never a new code: it means that the class is invalid.
  const int code = call.rank().errors().add_code(errorclass);
  if (code == MPI_ERR_UNKNOWN) {
    call.error(MPI_ERR_ARG, "errorclass " + std::to_string(errorclass) + " is not an error class");
  } else {
    *errorcode = code;
  }
  return call.done();
}
MARGAY_ALIAS(Add_error_code)

extern "C" int PMPI_Add_error_string(int errorcode, const char* string) {
  Call call(call_name<"MPI_Add_error_string">);
  call.not_null(string, "string");
  if (!call.ok()) return call.failed();
  // A longer string is an error, because after truncation the program would get another string than it set.
  if (std::strlen(string) >= MPI_MAX_ERROR_STRING) {
    call.error(MPI_ERR_ARG, "the string has " + std::to_string(std::strlen(string)) +
                                " characters; with its end it must fit into MPI_MAX_ERROR_STRING (512)");
  } else if (!call.rank().errors().set_text(errorcode, string)) {
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " was not added by this program");
  }
  return call.done();
}
MARGAY_ALIAS(Add_error_string)

extern "C" int PMPIX_Delete_error_class(int errorclass) {
  Call call(call_name<"MPIX_Delete_error_class">);
  ErrorTable& errors = call.rank().errors();
  // Only a class is its own class, so codes are rejected here.
  if (errors.class_of(errorclass) != errorclass || !errors.remove(errorclass)) {
    call.error(MPI_ERR_ARG,
               "errorclass " + std::to_string(errorclass) + " is not a class of this program, or has codes left");
  }
  return call.done();
}
MARGAY_ALIAS_MPIX(Delete_error_class)

extern "C" int PMPIX_Delete_error_code(int errorcode) {
  Call call(call_name<"MPIX_Delete_error_code">);
  ErrorTable& errors = call.rank().errors();
  if (errors.class_of(errorcode) == errorcode || !errors.remove(errorcode))
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is not a code of this program, or is a class");
  return call.done();
}
MARGAY_ALIAS_MPIX(Delete_error_code)

extern "C" int PMPIX_Delete_error_string(int errorcode) {
  Call call(call_name<"MPIX_Delete_error_string">);
  // The code stays, with an empty string.
  if (!call.rank().errors().set_text(errorcode, {}))
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " was not added by this program");
  return call.done();
}
MARGAY_ALIAS_MPIX(Delete_error_string)
