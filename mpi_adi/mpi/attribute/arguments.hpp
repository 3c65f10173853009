// Checks attribute keys and converts values for the program.
#pragma once

#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

// The key that the program made; nullptr and an error (MPI_ERR_KEYVAL) for any other. `owner`: of which kind of object.
[[nodiscard]] KeyvalPtr find_keyval(Call& call, int keyval, ObjectType owner);
// The same, and it was not freed: for making use of it anew.
[[nodiscard]] KeyvalPtr find_unfreed_keyval(Call& call, int keyval, ObjectType owner);

// Ends a call that reads an attribute as `reader` does; a word goes to *value. `found`: nullptr when it is not set.
inline int give_attribute(Call& call, Attribute* found, AttributeKind reader, void* value, int* flag) {
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *static_cast<void**>(value) = found->value.read_as(reader);
  return call.done();
}

// A predefined attribute that is a number: C gets its address, Fortran the number (MPI 4.0, 19.3.7).
template <typename Number>
int give_number(Call& call, Number* number, AttributeKind reader, void* value, int* flag) {
  *flag = number != nullptr ? 1 : 0;
  if (number == nullptr) return call.done();
  *static_cast<void**>(value) = reader == AttributeKind::address ? number : AttributeValue::from_number(*number);
  return call.done();
}

}  // namespace margay::mpi_adi
