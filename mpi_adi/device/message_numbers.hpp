// The number in its pair of each message that a receive or the heap got. A trace needs it, because each event names its
// message. Kept only while a trace records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/verdict.hpp"

namespace margay::mpi_adi {

// A hash table from messages of the heap to their numbers. Under the process lock.
class MessageNumbers {
 public:
  // The kernel's callback (sim::MatchProbe) for a matched message. A posted receive's request gets the number at once;
  // the number of a message of the heap is kept. `self`: the MessageNumbers.
  static void matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                      std::uint64_t sequence);
  // The number of a message of the heap; 0 if it arrived while no trace recorded.
  [[nodiscard]] std::uint64_t of(const portals::ArrivedMessage& message) const;
  // The same for a message that leaves the heap: the number is removed.
  [[nodiscard]] std::uint64_t take(const portals::ArrivedMessage& message);
  // Stores the number of a message that arrives in the heap. It replaces that of an earlier message at the same
  // address.
  void keep(const portals::ArrivedMessage& message, std::uint64_t number);

 private:
  struct Slot {
    const portals::ArrivedMessage* message = nullptr;  // nullptr: free
    std::uint64_t number = 0;
  };
  // The slot where a message's search begins, and the slot that contains the message or, if none does, would take it.
  // Both require slots_ not to be empty.
  [[nodiscard]] std::size_t home(const portals::ArrivedMessage* message) const;
  [[nodiscard]] std::size_t find(const portals::ArrivedMessage* message) const;
  // Doubles the table and enters each message again: the only allocation.
  void grow();

  // Open addressing with linear probing and no tombstones; the size is a power of two, at most half full. So recording
  // allocates nothing once the heap has held as many messages before.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;  // slots that are not free
};

}  // namespace margay::mpi_adi
