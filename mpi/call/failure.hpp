// The error of a call: its message, and the point-to-point message that it is about.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/object/communicator.hpp"
#include "sim/boot/findings.hpp"

namespace margay::mpi {

struct Failure {
  // Sets the message that the error is about; the first one counts.
  void concerns(int with_peer, int with_tag, std::uint64_t with_bytes);
  // The finding's record, without call and location. `communicator`: whose handler is called; nullptr: the error has no
  // object.
  [[nodiscard]] sim::FindingRecord record(const mpi_adi::Communicator* communicator) const;

  std::string text;
  // -1: unknown.
  int peer = -1;
  int tag = -1;
  std::uint64_t bytes = 0;
};

}  // namespace margay::mpi
