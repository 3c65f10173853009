// Attributes: values that a program attaches to a communicator, datatype or window under keys of its own, whose
// functions copy and delete them (MPI 4.0, 7.7).
#pragma once

#include <bit>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/user_functions.hpp"

namespace margay::mpi_adi {

// An attribute key, as data. The attributes under it share it: a key that the program has freed is deleted with its
// last attribute.
struct Keyval {
  int handle = MPI_KEYVAL_INVALID;
  ObjectType owner = ObjectType::none;          // communicator, datatype or window; the handles of all are ints
  MPI_Comm_copy_attr_function* copy = nullptr;  // nullptr: attributes are not copied
  MPI_Comm_delete_attr_function* delete_value = nullptr;  // nullptr: nothing to call
  // The program's pointer that both functions get.
  void* extra_state = nullptr;
  ForeignAttributeCopy foreign_copy = nullptr;  // if set, `copy` is C++'s or Fortran's, and this calls it
  ForeignAttributeDelete foreign_delete = nullptr;
  bool freed = false;  // by the program; no new attribute may be set under it
};
using KeyvalPtr = std::shared_ptr<Keyval>;

// An attribute's word, and the language that set it (MPI 4.0, 19.3.7). If Fortran set a number, C gets the number's
// address. If C set an address, Fortran gets the address as a number.
class AttributeValue {
 public:
  AttributeValue() = default;
  AttributeValue(void* value, AttributeKind kind) : word_(value), kind_(kind) {
    // Fortran's library passes an INTEGER in a word, of which a copy function of the program writes only the lower
    // half.
    if (kind == AttributeKind::integer) word_ = from_number(static_cast<std::int32_t>(number()));
  }

  // A number as the word, and the word as a number.
  [[nodiscard]] static void* from_number(std::intptr_t number) { return std::bit_cast<void*>(number); }
  [[nodiscard]] std::intptr_t number() const { return std::bit_cast<std::intptr_t>(word_); }
  // The word, for every kind.
  [[nodiscard]] void* word() const { return word_; }
  [[nodiscard]] AttributeKind kind() const { return kind_; }
  // The value for a function of C: an address that C set, or else the address of the word, where C may read a number,
  // even as an int.
  [[nodiscard]] void* for_c() { return kind_ == AttributeKind::address ? word_ : &word_; }
  // The word for a caller that reads attributes as `reader`.
  [[nodiscard]] void* read_as(AttributeKind reader) { return reader == AttributeKind::address ? for_c() : word_; }

 private:
  static_assert(std::endian::native == std::endian::little, "a word's address is its low half's");
  void* word_ = nullptr;
  // The default is the kind that C sets.
  AttributeKind kind_ = AttributeKind::address;
};

// One value under one key. The list that contains it refers to the key.
struct Attribute {
  KeyvalPtr keyval;
  AttributeValue value;
};

// An object's attributes, in the order in which they were set. An attribute's address is constant while it is set. A
// copy of the object starts without attributes, because the keys' functions copy them.
class AttributeList {
 public:
  AttributeList() = default;
  AttributeList(const AttributeList&) {}  // NOLINT(bugprone-copy-constructor-init): see above
  AttributeList(AttributeList&&) = default;
  AttributeList& operator=(const AttributeList&) = delete;
  AttributeList& operator=(AttributeList&&) = default;
  ~AttributeList() = default;

  // All attributes in the order in which they were set, which is the order of copies and deletions.
  [[nodiscard]] const std::list<Attribute>& all() const { return attributes_; }
  // The attribute under the key, or nullptr. Costs a pass: objects have few attributes.
  [[nodiscard]] Attribute* find(const Keyval& keyval);
  // Adds an attribute. Requires: none is set under the key.
  void append(KeyvalPtr keyval, AttributeValue value);
  // Removes the attribute under the key; no effect if there is none.
  void remove(const Keyval& keyval);

 private:
  // A list, because functions of the program may add and remove attributes while a pass over them is in progress.
  std::list<Attribute> attributes_;
};

// The table of attribute keys by handle. A key that the program freed is found until its last attribute is deleted,
// because MPI_Comm_delete_attr still accepts it (MPI 4.0, 7.7.2).

// A key's index has the slot in its low 18 bits and the slot's generation in the 4 bits above. Other handles have 8
// bits for the generation. In a key, the upper 4 of these bits contain the type of the objects for which the key is.
// Under the process lock.
class KeyvalTable {
 public:
  // Makes a key with a handle; nullptr when the table is full (2^18 keys alive). Requires: keyval.owner is set.
  [[nodiscard]] KeyvalPtr add(const Keyval& keyval);
  // The key of a handle, or nullptr. A freed key is found while an attribute uses it.
  [[nodiscard]] KeyvalPtr find(int handle) const;
  // Whether the key of this handle was freed and its slot has no other key yet. For error messages.
  [[nodiscard]] bool was_freed(int handle) const;
  // The keys that the program has not freed.
  [[nodiscard]] std::vector<int> living() const;
  // Frees a key for the program. Requires: not freed.
  void free_keyval(Keyval& keyval);

 private:
  static constexpr unsigned kSlotBits = 18;
  static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1;
  static constexpr std::uint32_t kGenerationMask = kKeyvalIndexMask >> kSlotBits;
  struct Slot {
    KeyvalPtr held;  // nullptr once freed
    // Alive while the program or an attribute has the key.
    std::weak_ptr<Keyval> living;
    // Counts the slot's keys, modulo 16.
    std::uint32_t generation = 0;
  };
  // An unused slot, or a new one; kSlotMask + 1 when all 2^18 are used.
  [[nodiscard]] std::uint32_t unused_slot();

  std::vector<Slot> slots_;           // grows to the most keys that existed at once
  std::vector<std::uint32_t> freed_;  // slots of freed keys, oldest first; attributes may still use these keys
};

}  // namespace margay::mpi_adi
