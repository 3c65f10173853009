// Copying and deleting attributes: where a key's functions, which are the user's, are called (MPI 4.0, 7.7).
//
// They run outside the rank and may call MPI on the same object; each function here holds a reference to it meanwhile.
// What a callback returns other than MPI_SUCCESS is the call's error: false, and nothing more was called.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi {

// An old value is deleted first, and the new one counts as set last.
bool set_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval, AttributeValue value);
bool set_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval, AttributeValue value);

// Nothing happens when it is not set.
bool delete_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval);
bool delete_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval);

// Before the object goes: the last one that was set first. On an error those that are left stay set.
bool delete_attributes(Call& call, Communicator& communicator);
bool delete_attributes(Call& call, Datatype& type);

// The same at MPI_Finalize, which nothing stops any more: all are deleted, and a line on standard error tells of each
// function that failed.
void delete_attributes_at_end(Call& call, Communicator& communicator);

// What a new duplicate takes over, in the order in which it was set. On an error `to` has lost again what it had got:
// the caller frees it.
bool copy_attributes(Call& call, Communicator& from, Communicator& to);
bool copy_attributes(Call& call, Datatype& from, Datatype& to);

}  // namespace margay::mpi
