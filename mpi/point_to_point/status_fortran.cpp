// Conversions of a status between C, Fortran and Fortran 2008 (MPI 4.0, 19.3.5): all have the same five words, so a
// conversion is a copy, which is valid at any time. A constant such as MPI_STATUS_IGNORE cannot be converted.
#include <cstring>

#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi_adi/abi/status.hpp"

using namespace margay::mpi;

namespace {

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status));

// `ignored`: the constant that means "ignore" in the language of `from`.
int convert(const Invocation& of, const void* from, const void* ignored, void* to, const char* from_name,
            const char* to_name) {
  if (from != nullptr && from != ignored && to != nullptr) {
    std::memcpy(to, from, sizeof(MPI_Status));
    return MPI_SUCCESS;
  }
  EarlyCall call(of);
  call.not_null(from, from_name);
  call.not_null(to, to_name);
  if (from == ignored) call.error(MPI_ERR_ARG, std::string(from_name) + " is the constant that says \"ignore\"");
  return call.done();
}

}  // namespace

extern "C" int PMPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  return convert(call_name<"MPI_Status_c2f">, c_status, MPI_STATUS_IGNORE, f_status, "c_status", "f_status");
}
MARGAY_ALIAS(Status_c2f)

extern "C" int PMPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  return convert(call_name<"MPI_Status_f2c">, f_status, MPI_F_STATUS_IGNORE, c_status, "f_status", "c_status");
}
MARGAY_ALIAS(Status_f2c)

extern "C" int PMPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status) {
  return convert(call_name<"MPI_Status_c2f08">, c_status, MPI_STATUS_IGNORE, f08_status, "c_status", "f08_status");
}
MARGAY_ALIAS(Status_c2f08)

extern "C" int PMPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status) {
  return convert(call_name<"MPI_Status_f082c">, f08_status, MPI_F08_STATUS_IGNORE, c_status, "f08_status", "c_status");
}
MARGAY_ALIAS(Status_f082c)

extern "C" int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status) {
  return convert(call_name<"MPI_Status_f082f">, f08_status, MPI_F08_STATUS_IGNORE, f_status, "f08_status", "f_status");
}
MARGAY_ALIAS(Status_f082f)

extern "C" int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status) {
  return convert(call_name<"MPI_Status_f2f08">, f_status, MPI_F_STATUS_IGNORE, f08_status, "f_status", "f08_status");
}
MARGAY_ALIAS(Status_f2f08)

// Files cannot be opened yet: the null handle is the only one, and 0 in both languages.
extern "C" MPI_Fint PMPI_File_c2f(MPI_File /*file*/) {
  return 0;
}
MARGAY_ALIAS(File_c2f)

extern "C" MPI_File PMPI_File_f2c(MPI_Fint /*file*/) {
  return MPI_FILE_NULL;
}
MARGAY_ALIAS(File_f2c)
