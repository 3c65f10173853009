// Inquiries and changes of a status (MPI 4.0, 3.2.5).
#include <optional>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/datatype/elements.hpp"

using namespace margay::mpi;

namespace {

template <typename Count>
int get_count(Call& call, const MPI_Status* status, MPI_Datatype datatype, Count* count) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(count, "count");
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  if (!call.ok()) return call.failed();
  const std::uint64_t bytes = status_bytes(*status);
  // With a type without bytes, an empty message has the count 0, and any other an undefined count (MPI 4.0, 3.2.5).
  if (type->size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    // Also undefined if a large count does not fit an int.
    *count = bytes % type->size == 0 ? bounded<Count>(bytes / type->size) : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

// The common part of MPI_Status_set_elements and MPI_Status_set_elements_x.
int set_elements(Call& call, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  call.count(count);
  if (!call.ok()) return call.failed();
  // A status has bytes only: they are converted here, and back by MPI_Get_elements.
  const std::optional<std::uint64_t> bytes = bytes_of_elements(*type->definition, static_cast<std::uint64_t>(count));
  if (!bytes) {
    call.error(MPI_ERR_COUNT, "count " + std::to_string(count) + " makes more bytes than a status can hold (2^63)");
    return call.failed();
  }
  set_status_bytes(*status, *bytes);
  return MPI_SUCCESS;
}

}  // namespace

MARGAY_TWINS(Get_count, (const MPI_Status* status, MPI_Datatype datatype, Count* count), {
  Call call(called);
  return get_count(call, status, datatype, count);
})

extern "C" int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  Call call(call_name<"MPI_Status_set_elements">);
  return set_elements(call, status, datatype, count);
}
MARGAY_ALIAS(Status_set_elements)

extern "C" int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  Call call(call_name<"MPI_Status_set_elements_x">);
  return set_elements(call, status, datatype, count);
}
MARGAY_ALIAS(Status_set_elements_x)

extern "C" int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  Call call(call_name<"MPI_Status_set_cancelled">);
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  if (!call.ok()) return call.failed();
  set_status_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Status_set_cancelled)
