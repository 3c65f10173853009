// Inquiries of how a datatype was made (MPI 4.0, 5.1.13).
#include <algorithm>

#include "mpi/call/binding.hpp"
#include "mpi/datatype/type_call.hpp"

using namespace margay::mpi;

namespace {

// A handle for a type of the contents: a predefined one, or a new one, which the caller frees.
MPI_Datatype handle_of(Call& call, const TypePtr& type) {
  if (type->predefined != 0) return type->predefined;
  // The definition is shared, so a handle costs no copy of the layout.
  const Datatype* added = call.rank().handles().add_datatype(Datatype(type));
  if (added != nullptr) return added->handle;
  call.error(MPI_ERR_OTHER, "too many datatypes are alive (2^18); free some first");
  return MPI_DATATYPE_NULL;
}

// Checks the length of one of the program's arrays. MPI_Type_get_envelope reports the needed lengths, so a shorter
// array is an error.
void check_room(Call& call, std::int64_t room, std::size_t needed, const char* what) {
  if (room < 0) call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(room) + ", below 0");
  if (!call.ok() || room >= static_cast<std::int64_t>(needed)) return;
  call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(room) + "; the type's contents have " +
                              std::to_string(needed) + " (MPI_Type_get_envelope reports them)");
}

// The program's arrays for the four kinds of arguments, and their lengths.
struct Room {
  std::int64_t integers, addresses, counts, types;
};
struct Contents {
  int* integers;
  MPI_Aint* addresses;
  MPI_Count* counts;
  MPI_Datatype* types;
};

// Rejects a type made with large counts, for functions that cannot return large counts ("erroneous", MPI 4.0, 5.1.13).
void refuse_counts(Call& call, const Datatype* type) {
  if (type == nullptr || type->definition->origin.counts.empty()) return;
  call.error(MPI_ERR_TYPE,
             "the datatype was made with large counts; MPI_Type_get_envelope_c and "
             "MPI_Type_get_contents_c report it");
}

// The body of MPI_Type_get_contents: copies the record that the constructor made.
int contents(Call& call, MPI_Datatype datatype, const Room& room, const Contents& to) {
  const Datatype* type = call.any_datatype(datatype);
  if (!call.ok()) return call.failed();
  // The definition, not the object, because new handles are made below.
  const TypePtr made = type->definition;
  const TypeOrigin& origin = made->origin;
  // A predefined type has no contents; its envelope has the combiner MPI_COMBINER_NAMED.
  if (origin.combiner == MPI_COMBINER_NAMED) {
    call.error(MPI_ERR_TYPE, "the datatype " + type->name + " is predefined: it has no contents");
  }
  check_room(call, room.integers, origin.integers.size(), "max_integers");
  check_room(call, room.addresses, origin.addresses.size(), "max_addresses");
  check_room(call, room.counts, origin.counts.size(), "max_large_counts");
  check_room(call, room.types, origin.types.size(), "max_datatypes");
  if (!origin.integers.empty()) call.not_null(to.integers, "array_of_integers");
  if (!origin.addresses.empty()) call.not_null(to.addresses, "array_of_addresses");
  if (!origin.counts.empty()) call.not_null(to.counts, "array_of_large_counts");
  if (!origin.types.empty()) call.not_null(to.types, "array_of_datatypes");
  if (!call.ok()) return call.failed();
  std::copy(origin.integers.begin(), origin.integers.end(), to.integers);
  std::copy(origin.addresses.begin(), origin.addresses.end(), to.addresses);
  std::copy(origin.counts.begin(), origin.counts.end(), to.counts);
  // Each derived type gets a new handle, even if the program still has a handle of it; the program frees each (MPI 4.0,
  // 5.1.13).
  for (std::size_t i = 0; i < origin.types.size(); ++i) to.types[i] = handle_of(call, origin.types[i]);
  return call.done();
}

// The body of MPI_Type_get_envelope, without large counts.
template <typename Count>
int envelope(Call& call, const Datatype* type, Count* integers, Count* addresses, Count* types, int* combiner) {
  call.not_null(integers, "num_integers");
  call.not_null(addresses, "num_addresses");
  call.not_null(types, "num_datatypes");
  call.not_null(combiner, "combiner");
  if (!call.ok()) return call.failed();
  const TypeOrigin& origin = type->definition->origin;
  *integers = static_cast<Count>(origin.integers.size());
  *addresses = static_cast<Count>(origin.addresses.size());
  *types = static_cast<Count>(origin.types.size());
  *combiner = origin.combiner;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int PMPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes,
                                      int* combiner) {
  Call call(call_name<"MPI_Type_get_envelope">);
  const Datatype* type = call.any_datatype(datatype);
  refuse_counts(call, type);
  return envelope(call, type, num_integers, num_addresses, num_datatypes, combiner);
}
MARGAY_ALIAS(Type_get_envelope)

extern "C" int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                                        MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  Call call(call_name<"MPI_Type_get_envelope_c">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(num_large_counts, "num_large_counts");
  const std::size_t counts = call.ok() ? type->definition->origin.counts.size() : 0;
  const int code = envelope(call, type, num_integers, num_addresses, num_datatypes, combiner);
  if (code == MPI_SUCCESS) *num_large_counts = static_cast<MPI_Count>(counts);
  return code;
}
MARGAY_ALIAS(Type_get_envelope_c)

extern "C" int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                                      int array_of_integers[], MPI_Aint array_of_addresses[],
                                      MPI_Datatype array_of_datatypes[]) {
  Call call(call_name<"MPI_Type_get_contents">);
  refuse_counts(call, call.any_datatype(datatype));
  return contents(call, datatype, {max_integers, max_addresses, 0, max_datatypes},
                  {array_of_integers, array_of_addresses, nullptr, array_of_datatypes});
}
MARGAY_ALIAS(Type_get_contents)

extern "C" int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                                        MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                                        MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                                        MPI_Datatype array_of_datatypes[]) {
  Call call(call_name<"MPI_Type_get_contents_c">);
  return contents(call, datatype, {max_integers, max_addresses, max_large_counts, max_datatypes},
                  {array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes});
}
MARGAY_ALIAS(Type_get_contents_c)
