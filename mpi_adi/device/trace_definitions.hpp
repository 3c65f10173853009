// The definitions of the numbers in a trace's events. Portals and owner kinds are defined when the device begins, all
// other numbers when an event first uses them.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/base/header.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// Names this device's portals and the owner kinds of its descriptors. `heap_bytes`: shown with the heap.
void define_portals_in_trace(sim::Recorder& recorder, std::uint64_t heap_bytes);
// Names the communicator's contexts and records a number that identifies the set of its members, once for each
// communicator. `since`: the stamp of the event that uses them; 0: now.
void define_in_trace(sim::Recorder& recorder, Communicator& communicator, std::uint64_t since = 0);
// One side of a partitioned channel, as the trace records it. `first`: the match bits of the channel's first message.
// The references need to live for the call only.
struct PartitionsDefinition {
  portals::MatchBits first = 0;
  bool sends = false;
  int tag = 0;  // the program's
  int partitions = 0;
  std::int64_t count = 0;  // elements in each
  const Datatype& type;
};
// Names the channel's match bits, with the number and the element of its partitions.
void define_in_trace(sim::Recorder& recorder, const PartitionsDefinition& what);
// Names the type when it is first used. Returns the number that events use for the type; 0 for a type of the library's
// own.
std::uint32_t define_in_trace(sim::Recorder& recorder, Datatype& type, std::uint64_t since = 0);

}  // namespace margay::mpi_adi
