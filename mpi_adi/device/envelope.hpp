// What a call says of a message beside its buffer, and what a probe tells of one.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

// Which of a communicator's two contexts a message travels in.
enum class Context : std::uint8_t { point_to_point, collective };

// An envelope as probes tell it.
struct Envelope {
  int source = 0;  // rank in the communicator
  int tag = 0;
  std::uint64_t bytes = 0;
};

}  // namespace margay::mpi_adi
