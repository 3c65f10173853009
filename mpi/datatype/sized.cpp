// Types by size, and types for Fortran's kinds (MPI 4.0, 19.1.9).
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/datatype/type_call.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"

using namespace margay::mpi;

namespace {

// Ends a call: passes the program a committed type that the library owns, always the same handle for the same arguments
// (`combiner`, `asked`), as MPI recommends. The search is linear, because a program uses few kinds. `basic`: the
// predefined type with the requested representation.
int hand_out_kind(Call& call, MPI_Datatype basic, int combiner, std::vector<int> asked, MPI_Datatype* newtype) {
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  std::vector<Datatype*>& known = call.rank().handles().kind_types();
  for (const Datatype* one : known) {
    const TypeOrigin& origin = one->definition->origin;
    if (origin.combiner != combiner || origin.integers != asked) continue;
    *newtype = one->handle;
    return MPI_SUCCESS;
  }
  const TypePtr like = call.rank().handles().datatype(basic)->definition;
  // A copy, because MPI_Type_get_contents returns the arguments of this type, not of the predefined one.
  const std::shared_ptr<TypeDefinition> made = copy_definition(*like);
  made->origin = {combiner, std::move(asked), {}, {}};
  Datatype* added = call.rank().handles().add_datatype(Datatype(made));
  if (added == nullptr) {
    call.error(MPI_ERR_OTHER, "too many datatypes are alive (2^18); free some first");
    return call.failed();
  }
  // Marked as predefined, so the program cannot free it. Its contents are the arguments of its constructor.
  made->predefined = added->handle;
  added->predefined = added->committed = true;
  known.push_back(added);
  *newtype = added->handle;
  return MPI_SUCCESS;
}

std::string describe_kind_arguments(int digits, int range) {
  const auto number = [](int value) { return value == MPI_UNDEFINED ? "MPI_UNDEFINED" : std::to_string(value); };
  return "p is " + number(digits) + " and r is " + number(range);
}

// Either precision or range may be MPI_UNDEFINED, but not both.
void check_kind(Call& call, int digits, int range, MPI_Datatype found) {
  if (digits == MPI_UNDEFINED && range == MPI_UNDEFINED) {
    call.error(MPI_ERR_ARG, describe_kind_arguments(digits, range) + "; one of them must be defined");
  } else if (found == MPI_DATATYPE_NULL) {
    call.error(MPI_ERR_ARG, describe_kind_arguments(digits, range) + "; no datatype has this precision and range");
  }
}

}  // namespace

extern "C" int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  Call call(call_name<"MPI_Type_match_size">);
  if (typeclass != MPI_TYPECLASS_REAL && typeclass != MPI_TYPECLASS_INTEGER && typeclass != MPI_TYPECLASS_COMPLEX) {
    call.error(MPI_ERR_ARG, "typeclass is " + std::to_string(typeclass) + ", not an MPI_TYPECLASS_ value");
  }
  call.not_null(datatype, "datatype");
  if (!call.ok()) return call.failed();
  const MPI_Datatype found = type_of_size(typeclass, size);
  if (found == MPI_DATATYPE_NULL) {
    call.error(MPI_ERR_ARG, "size is " + std::to_string(size) + "; no type of the class has it");
    return call.failed();
  }
  *datatype = found;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_match_size)

extern "C" int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_create_f90_real">);
  const MPI_Datatype found = real_of(p, r);
  check_kind(call, p, r, found);
  return hand_out_kind(call, found, MPI_COMBINER_F90_REAL, {p, r}, newtype);
}
MARGAY_ALIAS(Type_create_f90_real)

extern "C" int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_create_f90_complex">);
  const MPI_Datatype found = complex_of(p, r);
  check_kind(call, p, r, found);
  return hand_out_kind(call, found, MPI_COMBINER_F90_COMPLEX, {p, r}, newtype);
}
MARGAY_ALIAS(Type_create_f90_complex)

extern "C" int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_create_f90_integer">);
  const MPI_Datatype found = integer_of(r);
  if (found == MPI_DATATYPE_NULL) {
    call.error(MPI_ERR_ARG, "r is " + std::to_string(r) + "; no integer here has so many decimal digits");
  }
  return hand_out_kind(call, found, MPI_COMBINER_F90_INTEGER, {r}, newtype);
}
MARGAY_ALIAS(Type_create_f90_integer)
