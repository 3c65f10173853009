// How a datatype was made (MPI 4.0, 5.1.13).
#include <algorithm>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/datatype/type_call.hpp"

using namespace margay::mpi_adi;

namespace {

// A handle to a type of the contents: the ABI's own, or a new one, which the caller frees.
MPI_Datatype handle_of(Call& call, const TypePtr& type) {
  if (type->predefined != 0) return type->predefined;
  const Datatype* added = call.rank().add_datatype(Datatype(type));
  if (added != nullptr) return added->handle;
  call.error(MPI_ERR_OTHER, "too many datatypes are alive (2^18); free some first");
  return MPI_DATATYPE_NULL;
}

void check_room(Call& call, std::int64_t room, std::size_t needed, const char* what) {
  if (room < 0) call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(room) + ", below 0");
  if (!call.ok() || room >= static_cast<std::int64_t>(needed)) return;
  call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(room) + "; the type's contents have " +
                              std::to_string(needed) + " (MPI_Type_get_envelope tells)");
}

}  // namespace

extern "C" int PMPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes,
                                      int* combiner) {
  Call call(call_name<"MPI_Type_get_envelope">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(num_integers, "num_integers");
  call.not_null(num_addresses, "num_addresses");
  call.not_null(num_datatypes, "num_datatypes");
  call.not_null(combiner, "combiner");
  if (!call.ok()) return call.failed();
  const TypeOrigin& origin = type->definition->origin;
  *num_integers = static_cast<int>(origin.integers.size());
  *num_addresses = static_cast<int>(origin.addresses.size());
  *num_datatypes = static_cast<int>(origin.types.size());
  *combiner = origin.combiner;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_get_envelope)

extern "C" int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                                      int array_of_integers[], MPI_Aint array_of_addresses[],
                                      MPI_Datatype array_of_datatypes[]) {
  Call call(call_name<"MPI_Type_get_contents">);
  const Datatype* type = call.any_datatype(datatype);
  if (!call.ok()) return call.failed();
  // The definition, not the object: new handles are made below.
  const TypePtr made = type->definition;
  const TypeOrigin& origin = made->origin;
  if (origin.combiner == MPI_COMBINER_NAMED) {
    call.error(MPI_ERR_TYPE, "the datatype " + type->name + " is predefined: it has no contents");
  }
  check_room(call, max_integers, origin.integers.size(), "max_integers");
  check_room(call, max_addresses, origin.addresses.size(), "max_addresses");
  check_room(call, max_datatypes, origin.types.size(), "max_datatypes");
  if (!origin.integers.empty()) call.not_null(array_of_integers, "array_of_integers");
  if (!origin.addresses.empty()) call.not_null(array_of_addresses, "array_of_addresses");
  if (!origin.types.empty()) call.not_null(array_of_datatypes, "array_of_datatypes");
  if (!call.ok()) return call.failed();
  std::copy(origin.integers.begin(), origin.integers.end(), array_of_integers);
  std::copy(origin.addresses.begin(), origin.addresses.end(), array_of_addresses);
  for (std::size_t i = 0; i < origin.types.size(); ++i) array_of_datatypes[i] = handle_of(call, origin.types[i]);
  return call.done();
}
MARGAY_ALIAS(Type_get_contents)
