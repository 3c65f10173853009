// The numbers of received and of unexpected messages, and of those in heaps of libraries. Each is the message's number
// in its ordered pair of ranks. A trace needs them, because each event names its message by this number. They are kept
// only while a trace records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/verdict.hpp"

namespace margay::mpi_adi {

// A hash table from messages of heaps to their numbers. Under the process lock. A message of a library's heap stays in
// the table until another one lies at its address.
class MessageNumbers {
 public:
  // The kernel's callback (sim::MatchProbe) for a matched message. If a posted receive took the message, its request
  // gets the number at once. If the message went to the heap, the table gets the number. `self`: the MessageNumbers.
  static void matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                      std::uint64_t sequence);
  // The number of a message of the heap; 0 if it arrived while no trace recorded.
  [[nodiscard]] std::uint64_t of(const portals::ArrivedMessage& message) const;
  // The same for a message that leaves the heap. It also removes the number from the table.
  [[nodiscard]] std::uint64_t take(const portals::ArrivedMessage& message);
  // Stores the number of a message that arrives in the heap. It replaces the number of an earlier message at the same
  // address.
  void keep(const portals::ArrivedMessage& message, std::uint64_t number);

 private:
  struct Slot {
    const portals::ArrivedMessage* message = nullptr;  // nullptr: free
    std::uint64_t number = 0;
  };
  // home() is the slot where the search for a message begins. find() is the slot that contains the message, or the free
  // slot for it if there is none. Both require slots_ not to be empty.
  [[nodiscard]] std::size_t home(const portals::ArrivedMessage* message) const;
  [[nodiscard]] std::size_t find(const portals::ArrivedMessage* message) const;
  // Doubles the table and enters each message again: the only allocation.
  void grow();

  // Open addressing with linear probing and no tombstones; the size is a power of two, at most half full. So recording
  // allocates only when the heap holds more messages than ever before.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;  // slots that are not free
};

}  // namespace margay::mpi_adi
