// Reports of messages that no receive can take any more (MARGAY_LEAKS), and of dropped ready sends (always).
#pragma once

#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"
#include "mpi_adi/progress/device.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// The parts of a rank that these reports read (MpiRank::receiving_side). It consists of references, so it lives no
// longer than the call for which it is made.
struct ReceivingSide {
  sim::Process& process;
  Device& device;
  const ContextPool& contexts;
  const Communicator& world;
  const Communicator& self;
  bool reports_leaks = false;  // MARGAY_LEAKS: the rank keeps origins
};

// Reports on standard error each message on `communicator` that was not received and whose sender does not wait: its
// sender, tag and bytes, and the sending call if the message contains it (MARGAY_CHECK_TYPES). For MPI_COMM_WORLD, also
// reports the messages that arrived on a communicator after this process freed it. No effect unless leaks are reported.
// Requires: the process lock is held.
void report_unreceived(const ReceivingSide& side, const Communicator& communicator);
// Reports in the same way the messages that were given back to ending senders since the last call. `communicators`: the
// communicators with handles, for their names.
void report_given_back(const ReceivingSide& side, const std::vector<Communicator*>& communicators);

// Reports ready sends that found no receive, and that the kernel therefore dropped (paper 001, section 2: "simply be
// discarded"): their number, and the senders of the first ones. `reported`: the number reported before. Returns the
// present number.
std::uint64_t report_dropped(const ReceivingSide& side, std::uint64_t reported);

// The point-to-point contexts of messages in the heap that no communicator of this process has. Empty while an
// agreement on contexts runs. Requires: the process lock is held.
[[nodiscard]] std::vector<ContextId> freed_contexts(const ReceivingSide& side);

}  // namespace margay::mpi_adi
