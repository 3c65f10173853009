// Attributes of datatypes (MPI 4.0, 7.7.4). Predefined types have them too; theirs are never deleted by the library.
#include "mpi_adi/mpi/attribute/arguments.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

namespace {

int set_of_type(Call& call, MPI_Datatype datatype, int keyval, AttributeValue value) {
  Datatype* type = call.any_datatype(datatype);
  const KeyvalPtr key = find_unfreed_keyval(call, keyval, ObjectType::datatype);
  if (call.ok()) set_attribute(call, *type, key, value);
  return call.done();
}

int get_of_type(Call& call, MPI_Datatype datatype, int keyval, void* value, int* flag, AttributeKind reader) {
  Datatype* type = call.any_datatype(datatype);
  call.not_null(value, "attribute_val");
  call.not_null(flag, "flag");
  const KeyvalPtr key = find_keyval(call, keyval, ObjectType::datatype);
  if (!call.ok()) return call.failed();
  return give_attribute(call, type->attributes.find(*key), reader, value, flag);
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

// Fortran's.
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
  Datatype* type = call.any_datatype(datatype);
  const KeyvalPtr key = find_keyval(call, type_keyval, ObjectType::datatype);
  if (call.ok()) delete_attribute(call, *type, key);
  return call.done();
}
MARGAY_ALIAS(Type_delete_attr)
