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

// An attribute key. Passive. Its attributes share it: a key that the program has freed is deleted with the last of
// them.
struct Keyval {
  int handle = MPI_KEYVAL_INVALID;
  ObjectType owner = ObjectType::none;          // communicator, datatype or window; the handles of all are ints
  MPI_Comm_copy_attr_function* copy = nullptr;  // nullptr: attributes are not copied
  MPI_Comm_delete_attr_function* delete_value = nullptr;  // nullptr: nothing to call
  // The program's, passed to both functions.
  void* extra_state = nullptr;
  ForeignAttributeCopy foreign_copy = nullptr;  // `copy` and `delete_value` are C++'s or Fortran's, and called by these
  ForeignAttributeDelete foreign_delete = nullptr;
  bool freed = false;  // by the program; no new attribute may be set under it
};
using KeyvalPtr = std::shared_ptr<Keyval>;

// An attribute's word, and the language that set it (MPI 4.0, 19.3.7). C gets the address of a number that Fortran set;
// Fortran gets an address that C set as a number.
class AttributeValue {
 public:
  AttributeValue() = default;
  AttributeValue(void* value, AttributeKind kind) : word_(value), kind_(kind) {
    // Fortran's library passes an INTEGER in a word; a copy function of the program writes only its half.
    if (kind == AttributeKind::integer) word_ = from_number(static_cast<std::int32_t>(number()));
  }

  // A number as the word, and the word as a number.
  [[nodiscard]] static void* from_number(std::intptr_t number) { return std::bit_cast<void*>(number); }
  [[nodiscard]] std::intptr_t number() const { return std::bit_cast<std::intptr_t>(word_); }
  // The word, whatever its kind.
  [[nodiscard]] void* word() const { return word_; }
  [[nodiscard]] AttributeKind kind() const { return kind_; }
  // The value for a function of C: an address itself, or for a number the address of the word, where an int may be
  // read, too.
  [[nodiscard]] void* for_c() { return kind_ == AttributeKind::address ? word_ : &word_; }
  // The word for a caller that reads attributes as `reader`.
  [[nodiscard]] void* read_as(AttributeKind reader) { return reader == AttributeKind::address ? for_c() : word_; }

 private:
  static_assert(std::endian::native == std::endian::little, "a word's address is its low half's");
  void* word_ = nullptr;
  // The default is C's.
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

  // In the order in which they were set, as copies and deletions go through them.
  [[nodiscard]] const std::list<Attribute>& all() const { return attributes_; }
  // The attribute under the key, or nullptr. Costs a pass: objects have few attributes.
  [[nodiscard]] Attribute* find(const Keyval& keyval);
  // Adds one. Requires: not set.
  void append(KeyvalPtr keyval, AttributeValue value);
  // Removes it; no effect when it is not set.
  void remove(const Keyval& keyval);

 private:
  // A list, because functions of the program may add and remove attributes while a pass over them is in progress.
  std::list<Attribute> attributes_;
};

// The table of attribute keys by handle. A key that the program freed is found until its last attribute is deleted,
// since MPI_Comm_delete_attr still accepts it (MPI 4.0, 7.7.2).

// A key's index has the slot in its low 18 bits and the slot's generation in the 4 bits above. That is two bits less
// than in other handles, because the upper bits contain the kind of object that the key is for. Under the process lock.
class KeyvalTable {
 public:
  // Makes a key with a handle; nullptr when the table is full (2^18 keys alive). Requires: keyval.owner is set.
  [[nodiscard]] KeyvalPtr add(const Keyval& keyval);
  // The key of a handle, or nullptr. A freed key is found while an attribute uses it.
  [[nodiscard]] KeyvalPtr find(int handle) const;
  // Whether a key of this handle was made and freed, and no other one has its slot yet: for error messages.
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

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> freed_;  // slots of freed keys, some of which attributes still use; oldest first
};

}  // namespace margay::mpi_adi
