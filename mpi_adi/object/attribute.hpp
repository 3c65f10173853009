// Attributes: values that a program caches with a communicator, datatype or window under a key of its own, with the
// key's functions for copying and deleting them (MPI 4.0, 7.7).
#pragma once

#include <bit>
#include <cstdint>
#include <list>
#include <memory>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/foreign_caller.hpp"

namespace margay::mpi_adi {

// Passive. Shared by the attributes under it: a key that the program has freed goes with the last of them.
struct Keyval {
  int handle = MPI_KEYVAL_INVALID;
  ObjectType owner = ObjectType::none;          // communicator, datatype or window; their handles are ints all alike
  MPI_Comm_copy_attr_function* copy = nullptr;  // null: attributes are not copied
  MPI_Comm_delete_attr_function* delete_value = nullptr;  // null: nothing to do
  void* extra_state = nullptr;
  ForeignAttributeCopy foreign_copy = nullptr;  // `copy` and `delete_value` are C++'s or Fortran's: called by these
  ForeignAttributeDelete foreign_delete = nullptr;
  bool freed = false;  // by the program; no new attribute may be set under it
};
using KeyvalPtr = std::shared_ptr<Keyval>;

// The word of an attribute, and which language set it (MPI 4.0, 19.3.7). C gets the address of a number that Fortran
// set; Fortran gets the address that C set as a number.
class AttributeValue {
 public:
  AttributeValue() = default;
  AttributeValue(void* value, AttributeKind kind) : word_(value), kind_(kind) {
    // Fortran's library passes an INTEGER as a word; a copy function of the program's writes its half of one.
    if (kind == AttributeKind::integer) word_ = from_number(static_cast<std::int32_t>(number()));
  }

  [[nodiscard]] static void* from_number(std::intptr_t number) { return std::bit_cast<void*>(number); }
  [[nodiscard]] std::intptr_t number() const { return std::bit_cast<std::intptr_t>(word_); }
  [[nodiscard]] void* word() const { return word_; }
  [[nodiscard]] AttributeKind kind() const { return kind_; }
  // What a function of C is given: for a number its address, which is an int's, too.
  [[nodiscard]] void* for_c() { return kind_ == AttributeKind::address ? word_ : &word_; }
  // The word that a caller gets who reads attributes as `reader`.
  [[nodiscard]] void* read_as(AttributeKind reader) { return reader == AttributeKind::address ? for_c() : word_; }

 private:
  static_assert(std::endian::native == std::endian::little, "a word's address is its low half's");
  void* word_ = nullptr;
  AttributeKind kind_ = AttributeKind::address;
};

struct Attribute {
  KeyvalPtr keyval;
  AttributeValue value;
};

// An object's attributes, in the order in which they were set; each stays where it is while it is set. A copy of the
// object begins with none: copying them is a matter of the keys' functions.
class AttributeList {
 public:
  AttributeList() = default;
  AttributeList(const AttributeList&) {}  // NOLINT(bugprone-copy-constructor-init): see above
  AttributeList(AttributeList&&) = default;
  AttributeList& operator=(const AttributeList&) = delete;
  AttributeList& operator=(AttributeList&&) = default;
  ~AttributeList() = default;

  [[nodiscard]] const std::list<Attribute>& all() const { return attributes_; }
  // nullptr: not set.
  [[nodiscard]] Attribute* find(const Keyval& keyval);
  // Requires: not set.
  void append(KeyvalPtr keyval, AttributeValue value);
  // Nothing happens when it is not set.
  void remove(const Keyval& keyval);

 private:
  std::list<Attribute> attributes_;
};

}  // namespace margay::mpi_adi
