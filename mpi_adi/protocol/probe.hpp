// Probes: searches of the heap that do not receive, and matched receives (MPI 4.0, 3.8).
#pragma once

#include <optional>

#include "mpi_adi/device/parts.hpp"
#include "sim/trace/event.hpp"

namespace margay::mpi_adi {

// Whether a message has arrived that a receive with these arguments would get; if so, `envelope` describes the earliest
// such message. The caller runs progress first. `call` names the call for the trace; empty when the library probes for
// itself.
[[nodiscard]] bool probe(DeviceParts& parts, int source, int tag, const Communicator& communicator, Context context,
                         Envelope& envelope, std::optional<sim::TraceProbe> call = {});
// The same, but takes the message off the heap's queue, so that no other receive gets it. Returns nullptr when there is
// none. The message belongs to the caller until start_matched_receive(), and refers to `communicator` meanwhile.
[[nodiscard]] Message* matched_probe(DeviceParts& parts, int source, int tag, Communicator& communicator,
                                     Envelope& envelope, sim::TraceProbe call = sim::TraceProbe::mprobe);
// Receives a message that matched_probe() returned, and returns `message` to its pool. The receive ends with an error
// if the sender is lost and the body had not arrived whole when the message was probed.
[[nodiscard]] ReceiveRequest& start_matched_receive(DeviceParts& parts, void* buffer, std::int64_t count,
                                                    Datatype& type, Message& message);

}  // namespace margay::mpi_adi
