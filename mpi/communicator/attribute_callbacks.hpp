// Setting, copying and deleting attributes, with the calls of a key's functions, which are the program's (MPI 4.0,
// 7.7).
//
// The program's functions run outside the rank and may call MPI on the same object; each function here holds a
// reference to the object meanwhile. A callback's result other than MPI_SUCCESS becomes the call's error (MPI_ERR_OTHER
// if it is not a valid code); the function here then returns false. It calls no further callback, except that
// copy_attributes() deletes its copies.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi {

// Sets an attribute. An old value is deleted first, and the new one counts as set last.
bool set_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval, AttributeValue value);
bool set_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval, AttributeValue value);

// Deletes an attribute; no effect if it is not set.
bool delete_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval);
bool delete_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval);

// Deletes all attributes before the object is freed, the last one set first. After an error the remaining ones stay
// set.
bool delete_attributes(Call& call, Communicator& communicator);
bool delete_attributes(Call& call, Datatype& type);

// The same in MPI_Finalize, but errors do not stop it: all attributes are deleted, and each failure is printed on
// standard error. For MPI_COMM_SELF and the world (MPI 4.0, 11.2.4).
void delete_attributes_at_end(Call& call, Communicator& communicator);

// Copies the attributes to a new duplicate, in the order in which they were set. After an error `to` has no attributes,
// because the copies are deleted again. The caller frees `to`.
bool copy_attributes(Call& call, Communicator& from, Communicator& to);
bool copy_attributes(Call& call, Datatype& from, Datatype& to);

}  // namespace margay::mpi
