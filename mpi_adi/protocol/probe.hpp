// Looking at unexpected messages without receiving them: a search of the heap, and nothing else.
#pragma once

#include <optional>

#include "mpi_adi/device/parts.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

// The earliest message that a receive with this envelope would get. The caller has run progress. `call`: for the trace;
// none: no call of the program's.
[[nodiscard]] bool probe(DeviceParts& parts, int source, int tag, const Communicator& communicator, Context context,
                         Envelope& envelope, std::optional<sim::TraceProbe> call = {});
// The same, taken off the queue, so that no other receive gets it; nullptr when there is none.
[[nodiscard]] Message* matched_probe(DeviceParts& parts, int source, int tag, Communicator& communicator,
                                     Envelope& envelope, sim::TraceProbe call = sim::TraceProbe::mprobe);
// Receives it. The message is given up.
[[nodiscard]] ReceiveRequest& start_matched_receive(DeviceParts& parts, void* buffer, std::int64_t count,
                                                    Datatype& type, Message& message);

}  // namespace margay::mpi_adi
