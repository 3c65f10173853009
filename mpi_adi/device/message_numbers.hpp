// Which message a receive or the heap got, by its number in its pair: for the trace, whose every event names its
// message. Kept only while a trace records.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "portals/header.hpp"
#include "portals/verdict.hpp"

namespace margay::mpi_adi {

class MessageNumbers {
 public:
  // The kernel's (sim::MatchProbe): a posted receive's request is told its message at once, the heap's are kept.
  static void matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                      std::uint64_t sequence);
  // Of a message of the heap that leaves it; 0: it came while no trace recorded.
  [[nodiscard]] std::uint64_t take(const portals::ArrivedMessage& message);

 private:
  std::unordered_map<const portals::ArrivedMessage*, std::uint64_t> unexpected_;
};

}  // namespace margay::mpi_adi
