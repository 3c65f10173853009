// Messages that nobody received, told when no receive can have them any more (MARGAY_LEAKS).
#pragma once

#include <vector>

#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// Senders of the one kind wait until their message is received, or take it back; those of the other do not.
enum class Sender : std::uint8_t { waits, is_done };

// A line on standard error for each message of such senders that lies unreceived on `communicator`: who sent it, with
// which call where the sender tells (MARGAY_CHECK_TYPES), tag and bytes; with the world's those that came for a
// communicator after it was freed here. Nothing unless the rank keeps origins. Requires: the process lock is held.
void tell_unreceived(MpiRank& rank, const Communicator& communicator, Sender sender);

// Contexts for point-to-point messages that no communicator of this process has any more, of messages in the heap.
// Requires: the process lock is held.
[[nodiscard]] std::vector<ContextId> contexts_of_nobody(MpiRank& rank);

}  // namespace margay::mpi_adi
