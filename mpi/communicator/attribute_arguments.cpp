#include "mpi/communicator/attribute_arguments.hpp"

#include <cstdio>
#include <string>

#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

namespace {

const char* kind_of(ObjectType owner) {
  switch (owner) {
    case ObjectType::communicator:
      return "communicators";
    case ObjectType::datatype:
      return "datatypes";
    case ObjectType::window:
      return "windows";
    default:
      return "nothing";
  }
}

KeyvalPtr bad_keyval(Call& call, int keyval, const std::string& why) {
  char hex[16];
  std::snprintf(hex, sizeof hex, "0x%08x", static_cast<unsigned>(keyval));
  call.error(MPI_ERR_KEYVAL, std::string("attribute key ") + hex + " " + why);
  return nullptr;
}

}  // namespace

KeyvalPtr find_keyval(Call& call, int keyval, ObjectType owner) {
  if (!call.ok()) return nullptr;
  if (keyval == MPI_KEYVAL_INVALID) {
    call.error(MPI_ERR_KEYVAL, "the attribute key is MPI_KEYVAL_INVALID");
    return nullptr;
  }
  const auto not_for = [&](ObjectType its) {
    return bad_keyval(call, keyval, std::string("is for ") + kind_of(its) + ", not for " + kind_of(owner));
  };
  // Predefined keys are no objects of the table: their handles carry the type of object.
  if (is_builtin(keyval) && object_type(keyval) == ObjectType::keyval) {
    if (keyval_owner(keyval) != owner) return not_for(keyval_owner(keyval));
    return bad_keyval(call, keyval, "is predefined: it cannot be set, deleted or freed");
  }
  KeyvalPtr found = call.rank().tables().keyvals.find(keyval);
  if (found == nullptr) return bad_keyval(call, keyval, "is not a valid attribute key (freed, or never created)");
  // A key for another type of object is an error of its own, which names both types.
  return found->owner == owner ? found : not_for(found->owner);
}

KeyvalPtr find_unfreed_keyval(Call& call, int keyval, ObjectType owner) {
  KeyvalPtr found = find_keyval(call, keyval, owner);
  if (found != nullptr && found->freed) return bad_keyval(call, keyval, "was freed");
  return found;
}

}  // namespace margay::mpi
