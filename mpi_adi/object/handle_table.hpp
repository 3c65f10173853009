// A table from handles to objects. A handle's index has the slot in its low bits and the slot's generation above. So a
// handle that outlived its object does not find the slot's next object. The generation repeats after 256 objects of the
// slot.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/abi/handles.hpp"

namespace margay::mpi_adi {

// The table of one type of handle. A look-up costs an index check and a comparison. The caller owns the objects; the
// table has pointers only, so `Object` may be incomplete here. Used under the process lock, or under a lock of the
// caller's.
//
//   bits of a handle's index: 25 generation 18 | 17 slot 0
template <typename Object>
class HandleTable {
 public:
  // add() never uses the first `reserved` indices, which the ABI fixes or insert_at() uses.
  explicit HandleTable(ObjectType type, std::uint32_t reserved = 0)
      : tag_(handle_bits(make_direct(type, 0)) >> kHandleTypeShift), reserved_(reserved), slots_(reserved) {}

  // Puts an object at a reserved index, permanently. It does not count as alive, because it does not belong to the
  // program.
  [[nodiscard]] Handle insert_at(std::uint32_t index, Object& object) {
    slots_[index].object = &object;
    return handle_of(index);
  }

  // Puts an object into a free slot and returns its handle; 0 when the table is full (2^18 objects alive).
  [[nodiscard]] Handle add(Object& object) {
    std::uint32_t slot = free_;
    if (slot != kNone) {
      free_ = slots_[slot].next_free;
    } else {
      slot = static_cast<std::uint32_t>(slots_.size());
      // The index has 18 bits for the slot.
      if (slot > kSlotMask) return 0;
      slots_.push_back({});
    }
    slots_[slot].object = &object;
    return handle_of(slot);
  }
  // The object of a handle, or nullptr: for a stale handle, another type's handle, or any other number.
  [[nodiscard]] Object* find(Handle handle) const {
    const std::uint32_t slot = handle_index(handle) & kSlotMask;
    // Type and slot are tested first. The generation then distinguishes a stale handle from the slot's present handle.
    if (handle_bits(handle) >> kHandleTypeShift != tag_ || slot >= slots_.size()) return nullptr;
    const Slot& found = slots_[slot];
    return found.generation == handle_index(handle) >> kSlotBits ? found.object : nullptr;
  }
  // Frees a handle; the caller deletes the object. The slot's next object gets another generation. Requires:
  // find(handle) is not null.
  void remove(Handle handle) {
    const std::uint32_t slot = handle_index(handle) & kSlotMask;
    slots_[slot].object = nullptr;
    // Wraps round after 256 uses; a handle that is so old finds the present object.
    slots_[slot].generation = static_cast<std::uint8_t>(slots_[slot].generation + 1);
    slots_[slot].next_free = free_;
    free_ = slot;
  }
  // The objects that add() put in and remove() did not take out.
  [[nodiscard]] std::vector<Object*> alive() const {
    std::vector<Object*> objects;
    // A pass over the table, for reports and for the end of MPI.
    for (std::size_t slot = reserved_; slot < slots_.size(); ++slot) {
      if (slots_[slot].object != nullptr) objects.push_back(slots_[slot].object);
    }
    return objects;
  }
  // Calls function(Handle, const Object&) for each of these objects.
  template <typename Function>
  void for_each(Function function) const {
    for (std::uint32_t slot = reserved_; slot < slots_.size(); ++slot) {
      const Slot& at = slots_[slot];
      if (at.object != nullptr) function(handle_of(slot), *at.object);
    }
  }

 private:
  // 8 of the 26 bits of an index remain for the generation.
  static constexpr unsigned kSlotBits = 18;
  static constexpr std::uint32_t kSlotMask = (1U << kSlotBits) - 1;
  // The end of the free list.
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  // One index; its object is nullptr while it is free.
  struct Slot {
    Object* object = nullptr;
    // The next slot of the free list, if this slot is free.
    std::uint32_t next_free = kNone;
    // Counts the slot's objects, modulo 256.
    std::uint8_t generation = 0;
  };

  // The present handle of a slot.
  [[nodiscard]] Handle handle_of(std::uint32_t slot) const {
    return static_cast<Handle>(tag_ << kHandleTypeShift |
                               static_cast<std::uint32_t>(slots_[slot].generation) << kSlotBits | slot);
  }

  std::uint32_t tag_;  // the bits of a handle above its index: its kind (direct) and its type
  // Slots below this are skipped by alive() and for_each().
  std::uint32_t reserved_;
  // Grows to the most objects that were alive at once, and never shrinks.
  std::vector<Slot> slots_;
  // Last in, first out: a freed slot is used again at once, with the next generation.
  std::uint32_t free_ = kNone;
};

}  // namespace margay::mpi_adi
