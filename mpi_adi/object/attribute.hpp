// Attributes: values that a program caches with a communicator, datatype or window under a key of its own, with the
// key's functions for copying and deleting them (MPI 4.0, 7.7).
#pragma once

#include <memory>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/cxx_caller.hpp"

namespace margay::mpi_adi {

// Passive. Shared by the attributes under it: a key that the program has freed goes with the last of them.
struct Keyval {
  int handle = MPI_KEYVAL_INVALID;
  ObjectType owner = ObjectType::none;          // communicator, datatype or window; their handles are ints all alike
  MPI_Comm_copy_attr_function* copy = nullptr;  // null: attributes are not copied
  MPI_Comm_delete_attr_function* delete_value = nullptr;  // null: nothing to do
  void* extra_state = nullptr;
  CxxAttributeCopy cxx_copy = nullptr;  // `copy` and `delete_value` are C++'s: called by these
  CxxAttributeDelete cxx_delete = nullptr;
  bool freed = false;  // by the program; no new attribute may be set under it
};
using KeyvalPtr = std::shared_ptr<Keyval>;

struct Attribute {
  KeyvalPtr keyval;
  void* value = nullptr;
};

// An object's attributes, in the order in which they were set. A copy of the object begins with none: copying them is
// a matter of the keys' functions.
class AttributeList {
 public:
  AttributeList() = default;
  AttributeList(const AttributeList&) {}  // NOLINT(bugprone-copy-constructor-init): see above
  AttributeList(AttributeList&&) = default;
  AttributeList& operator=(const AttributeList&) = delete;
  AttributeList& operator=(AttributeList&&) = default;
  ~AttributeList() = default;

  [[nodiscard]] const std::vector<Attribute>& all() const { return attributes_; }
  // nullptr: not set.
  [[nodiscard]] const Attribute* find(const Keyval& keyval) const;
  // Requires: not set.
  void append(KeyvalPtr keyval, void* value);
  // Nothing happens when it is not set.
  void remove(const Keyval& keyval);

 private:
  std::vector<Attribute> attributes_;
};

}  // namespace margay::mpi_adi
