// Checks of attribute keys, and conversion of values for the program's language; the bodies of the attribute bindings.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi {

// The program's key behind a handle; nullptr, with MPI_ERR_KEYVAL set, if it is invalid or predefined. `owner`: the
// type of object that it must be for.
[[nodiscard]] KeyvalPtr find_keyval(Call& call, int keyval, ObjectType owner);
// The same for a call that sets an attribute: a freed key is an error, too.
[[nodiscard]] KeyvalPtr find_unfreed_keyval(Call& call, int keyval, ObjectType owner);

// The bodies of MPI_X_set_attr and MPI_X_delete_attr, for communicators, datatypes and windows' communicators. `object`
// is null after an error. Setting calls the delete function of an old value first; its error is the call's.
template <typename Object>
int set_attribute_of(Call& call, Object* object, ObjectType owner, int keyval, AttributeValue value) {
  // A freed key takes no new values; its old ones can still be read and deleted.
  const KeyvalPtr key = find_unfreed_keyval(call, keyval, owner);
  // May call functions of the program, whose error becomes the call's.
  if (call.ok()) set_attribute(call, *object, key, value);
  return call.done();
}
// A freed key can still be used to delete.
template <typename Object>
int delete_attribute_of(Call& call, Object* object, ObjectType owner, int keyval) {
  const KeyvalPtr key = find_keyval(call, keyval, owner);
  if (call.ok()) delete_attribute(call, *object, key);
  return call.done();
}

// Ends a call that reads an attribute in the language of `reader`. `found` is null if the attribute is not set; then
// only *flag is written.
inline int give_attribute(Call& call, Attribute* found, AttributeKind reader, void* value, int* flag) {
  // A missing attribute is not an error: flag is 0.
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *static_cast<void**>(value) = found->value.read_as(reader);
  return call.done();
}

// The body of MPI_X_get_attr for attributes of the program. `object` is null after an error.
template <typename Object>
int get_attribute_of(Call& call, Object* object, ObjectType owner, int keyval, void* value, int* flag,
                     AttributeKind reader) {
  const KeyvalPtr key = find_keyval(call, keyval, owner);
  if (!call.ok()) return call.failed();
  // The values of a freed key can still be read.
  return give_attribute(call, object->attributes.find(*key), reader, value, flag);
}

// Ends a call that reads a predefined number: C gets its address, Fortran the number (MPI 4.0, 19.3.7). `number` is
// null if the attribute is not set; otherwise it points to the library's own variable, whose address stays valid.
template <typename Number>
int give_number(Call& call, Number* number, AttributeKind reader, void* value, int* flag) {
  *flag = number != nullptr ? 1 : 0;
  if (number == nullptr) return call.done();
  *static_cast<void**>(value) = reader == AttributeKind::address ? number : AttributeValue::from_number(*number);
  return call.done();
}

}  // namespace margay::mpi
