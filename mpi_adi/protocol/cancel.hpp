// MPI_Cancel's protocol (MPI 4.0, 3.8.4), and other ways by which messages leave the heap unread. A receive is
// cancelled locally and at once, and so is a send of which nothing has left. For any other send only the receiver can
// say whether a receive has its message. The sender asks by a header that travels behind the message and carries the
// send's answer bits; the receiver's device searches its heap, frees the message if it is still there, and answers yes
// or no. Either answer completes the send.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Whether the receive is posted and has no message yet.
[[nodiscard]] bool is_unmatched(const ReceiveRequest& receive);

// Cancels a request (MPI_Cancel). A receive without a message, and a send that is still whole in its wire's queue,
// complete at once as cancelled. A send that waits for its receiver completes later, cancelled or not, when the answer
// arrives. No effect on a complete request, or on a send whose wire has begun to transmit it and that waits for nothing
// else.
void cancel(DeviceParts& parts, Request& request);
// The reason for asking a message back, which the receiver reports: a message that no rank receives is a leak at the
// receiver, one that the program cancelled is not.
enum class AskBack : std::uint8_t { cancelled = 0, nobody_receives = 1 };
// Asks the receiver to give a send's message back. Only a send that awaits an acknowledgment, a pull or a synchronous
// answer can be asked back, since only these name themselves to their receiver; no effect on others, nor on one that
// has been asked back already.
void ask_back(DeviceParts& parts, SendRequest& send, AskBack why);
// Answers the questions that have arrived: frees each message that no receive has, and reports to its sender whether it
// did.
void answer_cancels(DeviceParts& parts);

// Frees the messages that arrived on a communicator that this process has freed, so that the next communicator with its
// context does not receive them. A message that arrives after this call, before that communicator exists, is
// received by it all the same. Messages whose senders wait for an answer stay: while a sender waits, it refers to the
// communicator, which therefore still exists at its side.
void forget_messages(DeviceParts& parts, ContextId context);

}  // namespace margay::mpi_adi
