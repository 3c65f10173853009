// Tags of messages in a communicator's collective context that go through the receive portal: agreements, and the edges
// of a distributed graph. Only partitioned operations share it (mpi_adi/request/partitioned.hpp), whose tags begin with
// two ones: so do those of a text, which no program's communicator carries. Collective calls have portals of their own.
#pragma once

#include <cstdint>

#include "mpi_adi/device/match_bits.hpp"

namespace margay::collectives {

enum class Agreement : std::uint8_t {
  create_group = 0,  // the number is the tag that the program gave
  intercomm = 1,     // likewise
  graph_edges = 2,   // how many distributed graphs were made of the communicator before
  text = 3,          // of a text that the program gave; the number's highest bit is 0
};

// 30 bits of `number`. Never MPI_ANY_TAG, which is all ones.
[[nodiscard]] constexpr int internal_tag(Agreement kind, std::uint64_t number) {
  constexpr unsigned kNumberBits = 30;
  static_assert(mpi_adi::kUserTagBits <= kNumberBits);
  const std::uint32_t low = static_cast<std::uint32_t>(number) & ((1U << kNumberBits) - 1);
  return static_cast<int>(static_cast<std::uint32_t>(kind) << kNumberBits | low);
}

}  // namespace margay::collectives
