// Which message a receive or the heap got, by its number in its pair: for the trace, whose every event names its
// message. Kept only while a trace records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/verdict.hpp"

namespace margay::mpi_adi {

class MessageNumbers {
 public:
  // The kernel's (sim::MatchProbe): a posted receive's request is told its message at once, the heap's are kept.
  static void matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                      std::uint64_t sequence);
  // Of a message of the heap; 0: it came while no trace recorded.
  [[nodiscard]] std::uint64_t of(const portals::ArrivedMessage& message) const;
  // Of one that leaves it; 0: it came while no trace recorded.
  [[nodiscard]] std::uint64_t take(const portals::ArrivedMessage& message);
  // Of one that comes; what its place in the heap held before is forgotten.
  void keep(const portals::ArrivedMessage& message, std::uint64_t number);

 private:
  struct Slot {
    const portals::ArrivedMessage* message = nullptr;  // nullptr: free
    std::uint64_t number = 0;
  };
  // Where its search begins, and where it lies or would.
  [[nodiscard]] std::size_t home(const portals::ArrivedMessage* message) const;
  [[nodiscard]] std::size_t find(const portals::ArrivedMessage* message) const;
  void grow();

  // Linear probing without tombstones, a power of two, at most half full: recording allocates nothing once the heap has
  // held as many.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace margay::mpi_adi
