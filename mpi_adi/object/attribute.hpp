// Attributes: values that a program caches with a communicator, datatype or window under a key of its own, with the
// key's functions for copying and deleting them (MPI 4.0, 7.7).
#pragma once

#include <bit>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/user_functions.hpp"

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

// From attribute keys to their objects. A key that the program freed is found until the last attribute under it is
// gone: MPI_Comm_delete_attr still takes it (MPI 4.0, 7.7.2).

// A key's index has the slot in its low 18 bits and the slot's generation in the 4 above; two bits of its handle less
// than other objects have, since the kind of object that it keys for stands there too. Used under the process lock.
class KeyvalTable {
 public:
  // Gives it its handle; nullptr when the table is full (2^18 keys alive). Requires: keyval.owner is set.
  [[nodiscard]] KeyvalPtr add(const Keyval& keyval);
  // nullptr: no such key. One that was freed is found while an attribute has it.
  [[nodiscard]] KeyvalPtr find(int handle) const;
  // A key of this handle was made and freed, and no other one has its place yet.
  [[nodiscard]] bool was_freed(int handle) const;
  // Keys that the program has not freed.
  [[nodiscard]] std::vector<int> living() const;
  // Requires: not freed.
  void free_keyval(Keyval& keyval);

 private:
  static constexpr unsigned kSlotBits = 18;
  static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1;
  static constexpr std::uint32_t kGenerationMask = kKeyvalIndexMask >> kSlotBits;
  struct Slot {
    KeyvalPtr held;  // null once freed
    std::weak_ptr<Keyval> living;
    std::uint32_t generation = 0;
  };
  // An unused slot, or a new one; kSlotMask + 1 when there is none.
  [[nodiscard]] std::uint32_t unused_slot();

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> freed_;  // slots, some of whose keys may still live with attributes; oldest first
};

}  // namespace margay::mpi_adi
