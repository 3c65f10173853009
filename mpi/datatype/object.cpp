// Datatypes as objects (MPI 4.0, 5.1.9 and 7.8): commit, free, names.
#include <algorithm>
#include <cstring>

#include "mpi/call/binding.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/datatype/type_call.hpp"

using namespace margay::mpi;

namespace {

// Formats a predefined type for messages: by its name or, for Fortran's kinds, which have no name, by its constructor.
std::string datatype_text(const Datatype& type) {
  std::string text = "datatype " + in_hex(type.handle);
  if (!type.name.empty()) return text + " (" + type.name + ")";
  switch (type.definition->origin.combiner) {
    case MPI_COMBINER_F90_REAL:
      return text + " of MPI_Type_create_f90_real";
    case MPI_COMBINER_F90_COMPLEX:
      return text + " of MPI_Type_create_f90_complex";
    case MPI_COMBINER_F90_INTEGER:
      return text + " of MPI_Type_create_f90_integer";
    default:
      return text;
  }
}

}  // namespace

// Only marks the type. Its layout was compiled when the type was made, because other types may be made of it before it
// is committed.
extern "C" int PMPI_Type_commit(MPI_Datatype* datatype) {
  Call call(call_name<"MPI_Type_commit">);
  call.not_null(datatype, "datatype");
  if (!call.ok()) return call.failed();
  Datatype* type = call.any_datatype(*datatype);
  if (call.ok()) type->committed = true;
  return call.done();
}
MARGAY_ALIAS(Type_commit)

extern "C" int PMPI_Type_free(MPI_Datatype* datatype) {
  Call call(call_name<"MPI_Type_free">);
  call.not_null(datatype, "datatype");
  if (!call.ok()) return call.failed();
  Datatype* type = call.any_datatype(*datatype);
  if (call.ok() && type->predefined)
    call.error(MPI_ERR_TYPE, datatype_text(*type) + " is predefined and cannot be freed");
  // Attributes first: an error of a delete function keeps the type alive.
  if (!call.ok() || !delete_attributes(call, *type)) return call.failed();
  // Looked up again: an attribute's callback may have freed it.
  type = call.any_datatype(*datatype);
  if (!call.ok()) return call.failed();
  call.rank().handles().free_datatype(*type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_free)

extern "C" int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
  Call call(call_name<"MPI_Type_set_name">);
  Datatype* type = call.any_datatype(datatype);
  call.not_null(type_name, "type_name");
  if (!call.ok()) return call.failed();
  type->name.assign(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  // The trace gets the new name with the next event that refers to the type.
  type->in_trace = false;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_set_name)

extern "C" int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  Call call(call_name<"MPI_Type_get_name">);
  // The null handle has a name, too (MPI 4.0, 7.8).
  std::string name = "MPI_DATATYPE_NULL";
  if (datatype != MPI_DATATYPE_NULL) {
    const Datatype* type = call.any_datatype(datatype);
    if (type != nullptr) name = type->name;
  }
  call.not_null(type_name, "type_name");
  call.not_null(resultlen, "resultlen");
  if (!call.ok()) return call.failed();
  std::memcpy(type_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Type_get_name)
