// Checks attribute keys and converts values for the program.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi {

// The key that the program made; nullptr and an error (MPI_ERR_KEYVAL) for any other. `owner`: of which kind of object.
[[nodiscard]] KeyvalPtr find_keyval(Call& call, int keyval, ObjectType owner);
// The same, and it was not freed: for making use of it anew.
[[nodiscard]] KeyvalPtr find_unfreed_keyval(Call& call, int keyval, ObjectType owner);

// MPI_X_set_attr and MPI_X_delete_attr of a communicator, a datatype, or a window's communicator. `object`: nullptr
// with an error of the call.
template <typename Object>
int set_attribute_of(Call& call, Object* object, ObjectType owner, int keyval, AttributeValue value) {
  const KeyvalPtr key = find_unfreed_keyval(call, keyval, owner);
  if (call.ok()) set_attribute(call, *object, key, value);
  return call.done();
}
template <typename Object>
int delete_attribute_of(Call& call, Object* object, ObjectType owner, int keyval) {
  const KeyvalPtr key = find_keyval(call, keyval, owner);
  if (call.ok()) delete_attribute(call, *object, key);
  return call.done();
}

// Ends a call that reads an attribute as `reader` does; a word goes to *value. `found`: nullptr when it is not set.
inline int give_attribute(Call& call, Attribute* found, AttributeKind reader, void* value, int* flag) {
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *static_cast<void**>(value) = found->value.read_as(reader);
  return call.done();
}

// MPI_X_get_attr of an attribute that the program set. `object`: as above.
template <typename Object>
int get_attribute_of(Call& call, Object* object, ObjectType owner, int keyval, void* value, int* flag,
                     AttributeKind reader) {
  const KeyvalPtr key = find_keyval(call, keyval, owner);
  if (!call.ok()) return call.failed();
  return give_attribute(call, object->attributes.find(*key), reader, value, flag);
}

// A predefined attribute that is a number: C gets its address, Fortran the number (MPI 4.0, 19.3.7).
template <typename Number>
int give_number(Call& call, Number* number, AttributeKind reader, void* value, int* flag) {
  *flag = number != nullptr ? 1 : 0;
  if (number == nullptr) return call.done();
  *static_cast<void**>(value) = reader == AttributeKind::address ? number : AttributeValue::from_number(*number);
  return call.done();
}

}  // namespace margay::mpi
