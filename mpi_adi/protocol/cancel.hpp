// Cancelling (MPI 4.0, 3.8.4). A receive is taken back here and now, and so is a send of which nothing has left. Of
// another send only the receiver knows whether a receive has its message: it is asked, by a header that travels behind
// the message and bears the send's answer bits; its device searches the heap, frees the message if it is there, and
// answers yes or no. Whichever comes, the send ends.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Posted, and nothing has matched it.
[[nodiscard]] bool is_unmatched(const ReceiveRequest& receive);

// A receive that nothing matched, or a send that is all in the queue of its wire, completes, cancelled. Another send
// that waits for its receiver will complete, cancelled or not. A request that is complete, or a send that the wire has
// begun with and that waits for nothing else, stays as it is.
void cancel(DeviceParts& parts, Request& request);
// Asks for a send's message back, if its receiver knows it; no effect on one that the wire only has to take. `why`: the
// receiver is told. A message that nobody received is a leak there, one that the program cancelled is none.
enum class AskBack : std::uint8_t { cancelled = 0, nobody_receives = 1 };
void ask_back(DeviceParts& parts, SendRequest& send, AskBack why);
// Questions came: gives back what no receive has, and answers.
void cancels_asked(DeviceParts& parts);

// Frees the whole messages that came on a communicator that is gone here, so that the next one with its context does
// not receive them. (One that comes later still, before that, it does.) Those whose senders wait for an answer stay:
// while they wait, the communicator is not gone there.
void forget_messages(DeviceParts& parts, ContextId context);

}  // namespace margay::mpi_adi
