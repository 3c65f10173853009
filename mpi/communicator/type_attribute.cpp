// Attributes of datatypes (MPI 4.0, 7.7.4). Predefined types may have attributes, too; the library never deletes these.
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/communicator/attribute_arguments.hpp"

using namespace margay::mpi;

namespace {

// Valid for types that are not committed, too.
int set_of_type(Call& call, MPI_Datatype datatype, int keyval, AttributeValue value) {
  return set_attribute_of(call, call.any_datatype(datatype), ObjectType::datatype, keyval, value);
}

int get_of_type(Call& call, MPI_Datatype datatype, int keyval, void* value, int* flag, AttributeKind reader) {
  Datatype* type = call.any_datatype(datatype);
  call.not_null(value, "attribute_val");
  call.not_null(flag, "flag");
  return get_attribute_of(call, type, ObjectType::datatype, keyval, value, flag, reader);
}

}  // namespace

extern "C" int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  Call call(call_name<"MPI_Type_set_attr">);
  return set_of_type(call, datatype, type_keyval, {attribute_val, AttributeKind::address});
}
MARGAY_ALIAS(Type_set_attr)

extern "C" int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Type_get_attr">);
  return get_of_type(call, datatype, type_keyval, attribute_val, flag, AttributeKind::address);
}
MARGAY_ALIAS(Type_get_attr)

// For MPICH's Fortran library.
MARGAY_EXPORT int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void* value, AttributeKind kind) {
  Call call(call_name<"MPI_Type_set_attr">);
  return set_of_type(call, datatype, keyval, {value, kind});
}

MARGAY_EXPORT int MPII_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag, AttributeKind kind) {
  Call call(call_name<"MPI_Type_get_attr">);
  return get_of_type(call, datatype, keyval, value, flag, kind);
}

extern "C" int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  Call call(call_name<"MPI_Type_delete_attr">);
  return delete_attribute_of(call, call.any_datatype(datatype), ObjectType::datatype, type_keyval);
}
MARGAY_ALIAS(Type_delete_attr)
