// What a status tells (MPI 4.0, 3.2.5).
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  Call call(call_name<"MPI_Get_count">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(count, "count");
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  if (!call.ok()) return call.failed();
  const std::uint64_t bytes = status_bytes(*status);
  if (type->size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else if (bytes % type->size != 0 || bytes / type->size > INT32_MAX) {
    *count = MPI_UNDEFINED;
  } else {
    *count = static_cast<int>(bytes / type->size);
  }
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Get_count)
