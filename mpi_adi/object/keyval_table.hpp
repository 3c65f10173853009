// From attribute keys to their objects. A key that the program freed is found until the last attribute under it is
// gone: MPI_Comm_delete_attr still takes it (MPI 4.0, 7.7.2).
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

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
