// Messages that nobody received, told when no receive can have them any more (MARGAY_LEAKS), and ready sends that were
// dropped (always told).
#pragma once

#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"
#include "mpi_adi/progress/device.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// What of a rank these look at (MpiRank::receiving_side).
struct ReceivingSide {
  sim::Process& process;
  Device& device;
  const ContextPool& contexts;
  const Communicator& world;
  const Communicator& self;
  bool leaks_told = false;  // the rank keeps origins
};

// A line on standard error for each message that lies unreceived on `communicator`, and whose sender does not wait: who
// sent it, with which call where the sender tells (MARGAY_CHECK_TYPES), tag and bytes; with the world's those that came
// for a communicator after it was freed here. Nothing unless leaks are told. Requires: the process lock is held.
void tell_unreceived(const ReceivingSide& side, const Communicator& communicator);
// Likewise for each that went back, as its sender ended, since this was last called. `communicators`: those with
// handles.
void tell_given_back(const ReceivingSide& side, const std::vector<Communicator*>& communicators);

// A ready send that found no receive was dropped by the kernel (paper 001, section 2: "simply be discarded"). How many
// were, and who sent the first ones, on standard error, if more were than the `told` ones. Returns how many.
std::uint64_t tell_dropped(const ReceivingSide& side, std::uint64_t told);

// Contexts for point-to-point messages that no communicator of this process has any more, of messages in the heap.
// Requires: the process lock is held.
[[nodiscard]] std::vector<ContextId> contexts_of_nobody(const ReceivingSide& side);

}  // namespace margay::mpi_adi
