// MPI_Cancel's protocol (MPI 4.0, 3.8.4), and other ways by which messages leave the heap unread. A receive is
// cancelled locally and at once, and so is a send of which nothing has left. For any other send, only the receiver's
// process can decide whether a receive has the message. So the sender asks it, by a header that travels behind the
// message and carries the send's answer bits. The receiver's device searches its heap. If the message is there whole,
// the device frees it and answers yes; otherwise it answers no. After yes the send completes as cancelled; after no it
// completes like any other send.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Whether the receive is posted and has no message yet.
[[nodiscard]] bool is_unmatched(const ReceiveRequest& receive);

// Cancels a request (MPI_Cancel). A receive without a message, and a send that is still whole in its wire's queue,
// complete at once as cancelled. A send that waits for its receiver completes later, cancelled or not, but not before
// the answer has arrived. No effect on a complete request, or on a send that waits only for a wire that has begun to
// transmit it.
void cancel(DeviceParts& parts, Request& request);
// The reason for asking for a message back. The receiver needs it for its report: a message that no rank receives is a
// leak at the receiver, but a message that the program cancelled is not.
enum class AskBack : std::uint8_t { cancelled = 0, nobody_receives = 1 };
// Asks the receiver to give a send's message back. Possible only while the send awaits an acknowledgment, a pull or a
// synchronous answer, because only then the message names its send to the receiver. No effect on other sends, or if the
// receiver has been asked already.
void ask_back(DeviceParts& parts, SendRequest& send, AskBack why);
// Answers the questions that have arrived: frees each named message that the heap has whole, and reports to the
// message's sender whether it was freed.
void answer_cancels(DeviceParts& parts);

// Frees the messages that arrived on a communicator that this process has freed, so that the next communicator with the
// same context does not receive them. A message that arrives between this call and the creation of that communicator is
// received all the same. Messages whose senders wait for an answer stay: such a sender's request still refers to the
// communicator, so the context is not free in the sender's process.
void discard_messages(DeviceParts& parts, ContextId context);

}  // namespace margay::mpi_adi
