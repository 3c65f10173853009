// Tells the trace what the numbers in its events are called, when one of them first speaks of it.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/base/header.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// What this device's portals and the owners of its descriptors are.
void define_portals_in_trace(sim::Recorder& recorder, std::uint64_t heap_bytes);
// Its contexts' name. A library's own has none. `since`: the stamp of the event that speaks of it; 0: now.
void define_in_trace(sim::Recorder& recorder, Communicator& communicator, std::uint64_t since = 0);
// What a side of partitioned communication has; `first`: the match bits of its channel's first message.
struct PartitionsTold {
  portals::MatchBits first = 0;
  bool sends = false;
  int tag = 0;  // the program's
  int partitions = 0;
  std::int64_t count = 0;  // elements in each
  const Datatype& type;
};
void define_in_trace(sim::Recorder& recorder, const PartitionsTold& told);
// Returns the number that events name the type by; 0: one of the library's own.
std::uint32_t define_in_trace(sim::Recorder& recorder, Datatype& type, std::uint64_t since = 0);

}  // namespace margay::mpi_adi
