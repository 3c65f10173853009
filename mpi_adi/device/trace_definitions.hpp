// Tells the trace what the numbers in its events are called, when one of them first speaks of it.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// What this device's portals and the owners of its descriptors are.
void define_portals_in_trace(sim::Recorder& recorder, std::uint64_t heap_bytes);
// Its contexts' name. A library's own has none. `since`: the stamp of the event that speaks of it; 0: now.
void define_in_trace(sim::Recorder& recorder, Communicator& communicator, std::uint64_t since = 0);
// Returns the number that events name the type by; 0: one of the library's own.
std::uint32_t define_in_trace(sim::Recorder& recorder, Datatype& type, std::uint64_t since = 0);

}  // namespace margay::mpi_adi
