// The number of predefined elements received (MPI 4.0, 5.1.11).
#include "mpi_adi/datatype/elements.hpp"

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"

using namespace margay::mpi;

namespace {

// Counts the predefined elements in the received bytes, which need not fill the last element of the type.
template <typename Integer>
int get_elements(Call& call, const MPI_Status* status, MPI_Datatype datatype, Integer* count) {
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(count, "count");
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  if (!call.ok()) return call.failed();
  const std::optional<std::uint64_t> elements = elements_in(*type->definition, status_bytes(*status));
  // Undefined if the bytes end within a predefined element.
  *count = elements ? bounded<Integer>(*elements) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace

MARGAY_TWINS(Get_elements, (const MPI_Status* status, MPI_Datatype datatype, Count* count), {
  Call call(called);
  return get_elements(call, status, datatype, count);
})

extern "C" int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  Call call(call_name<"MPI_Get_elements_x">);
  return get_elements(call, status, datatype, count);
}
MARGAY_ALIAS(Get_elements_x)
