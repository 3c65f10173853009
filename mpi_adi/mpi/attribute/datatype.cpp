// Attributes of datatypes (MPI 4.0, 7.7.4). Predefined types have them too; theirs are never deleted by the library.
#include "mpi_adi/mpi/attribute/arguments.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  Call call(call_name<"MPI_Type_set_attr">);
  Datatype* type = call.any_datatype(datatype);
  const KeyvalPtr key = find_unfreed_keyval(call, type_keyval, ObjectType::datatype);
  if (call.ok()) set_attribute(call, *type, key, attribute_val);
  return call.done();
}
MARGAY_ALIAS(Type_set_attr)

extern "C" int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Type_get_attr">);
  const Datatype* type = call.any_datatype(datatype);
  call.not_null(attribute_val, "attribute_val");
  call.not_null(flag, "flag");
  const KeyvalPtr key = find_keyval(call, type_keyval, ObjectType::datatype);
  if (!call.ok()) return call.failed();
  const Attribute* attribute = type->attributes.find(*key);
  *flag = attribute != nullptr ? 1 : 0;
  if (attribute != nullptr) *static_cast<void**>(attribute_val) = attribute->value;
  return call.done();
}
MARGAY_ALIAS(Type_get_attr)

extern "C" int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  Call call(call_name<"MPI_Type_delete_attr">);
  Datatype* type = call.any_datatype(datatype);
  const KeyvalPtr key = find_keyval(call, type_keyval, ObjectType::datatype);
  if (call.ok()) delete_attribute(call, *type, key);
  return call.done();
}
MARGAY_ALIAS(Type_delete_attr)
