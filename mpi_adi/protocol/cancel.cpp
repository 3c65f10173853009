#include "mpi_adi/protocol/cancel.hpp"

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/header_message.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Answer bits that name no send, because the generation of a pooled request is never 0.
constexpr portals::MatchBits kAboutNothing = 0;

void cancel_receive(DeviceParts& parts, ReceiveRequest& receive) {
  if (!is_unmatched(receive)) return;
  MARGAY_ASSERT(*parts.posted_receives != 0);
  --*parts.posted_receives;
  parts.receive_list.remove(receive.entry);
  receive.state = ReceiveState::complete;
  receive.cancelled = true;
  receive.pieces.clear();
  complete(parts, receive);
}

portals::Header to_peer(const DeviceParts& parts, portals::PortalIndex portal, std::uint32_t peer,
                        portals::MatchBits bits) {
  portals::Header header;
  header.kind = portals::Kind::put;
  header.portal = portal;
  header.destination = {parts.kernel.me().group, peer};
  header.match_bits = bits;
  return header;
}

// Cancels a send of which nothing has left its wire's queue. An empty question (kAboutNothing) takes the message's
// place, because sender and receiver both count the messages between them. Returns false if the wire has begun to send
// the message, or has sent it.
bool take_back(DeviceParts& parts, SendRequest& send) {
  if ((send.events & kEventBodyTaken) == 0) return false;
  if (!send_instead(parts, send.transmission, to_peer(parts, kCancelPortal, send.peer, kAboutNothing))) return false;
  send.cancelled = true;
  send.events = 0;
  complete_if_finished(parts, send);
  return true;
}

}  // namespace

// Asks only for a send that waits for its receiver, because the receiver finds the message by the send's answer bits. A
// send that only waits for room on its wire has no answer bits in its message, and completes without the receiver.
void ask_back(DeviceParts& parts, SendRequest& send, AskBack why) {
  constexpr unsigned kReceivers = kEventAcknowledgment | kEventRead | kEventSynchronous;
  if ((send.events & kReceivers) == 0 || (send.events & kEventCancel) != 0) return;
  // A rendezvous that is not synchronous has no acknowledgment entry yet, and the answer needs one.
  if (!send.listening) listen(parts, send);
  expect_event(send, kEventCancel);
  portals::Header question = to_peer(parts, kCancelPortal, send.peer, answer_bits_of(send));
  question.user_data[0] = static_cast<std::byte>(why);
  send_header(parts, question);
}

namespace {

// The message that the question names, if the heap has it whole; nullptr otherwise. A message that the heap does not
// have will not arrive later, because the question was sent after the message on the same wire.
portals::ArrivedMessage* unmatched(DeviceParts& parts, const portals::Header& question) {
  for (portals::ArrivedMessage* at = parts.heap.first(); at != nullptr; at = parts.heap.next(*at)) {
    if (at->header.source.rank != question.source.rank) continue;
    if (read_note(at->header.user_data).answer_bits == question.match_bits) return at->complete ? at : nullptr;
  }
  return nullptr;
}

// Frees a message of the heap unread, and records why.
void give_back(DeviceParts& parts, portals::ArrivedMessage& message, sim::TraceGivenBack why) {
  if (parts.recorder().on()) [[unlikely]] {
    sim::TraceEvent event =
        sim::trace_event(sim::TraceKind::given_back, message.header, parts.message_numbers.take(message));
    event.reason = static_cast<std::uint8_t>(why);
    parts.recorder().record(event);
  }
  parts.heap.release(message);
}

}  // namespace

bool is_unmatched(const ReceiveRequest& receive) {
  // A receive whose row is reserved or filled has its message.
  return receive.state == ReceiveState::posted && receive.row[0].state == portals::IndependentBuffer::State::available;
}

void cancel(DeviceParts& parts, Request& request) {
  if (request.complete) return;
  if (request.kind == RequestKind::receive) {
    cancel_receive(parts, static_cast<ReceiveRequest&>(request));
  } else if (request.kind == RequestKind::send) {
    auto& send = static_cast<SendRequest&>(request);
    if (!take_back(parts, send)) ask_back(parts, send, AskBack::cancelled);
  }
}

void answer_cancels(DeviceParts& parts) {
  while (portals::ArrivedMessage* const question = parts.cancels.first()) {
    // A copy, because releasing the question frees its header.
    const portals::Header header = question->header;
    parts.cancels.release(*question);
    if (header.match_bits == kAboutNothing) continue;
    portals::ArrivedMessage* const message = unmatched(parts, header);
    if (message != nullptr) {
      // The reason came over a wire; any other value counts as cancelled.
      const bool leaked = static_cast<AskBack>(header.user_data[0]) == AskBack::nobody_receives;
      if (leaked && parts.keeps_unreceived) parts.unreceived.push_back(message->header);
      give_back(parts, *message, leaked ? sim::TraceGivenBack::never_wanted : sim::TraceGivenBack::cancelled);
    }
    portals::Header answer = to_peer(parts, kAcknowledgmentPortal, header.source.rank, header.match_bits);
    answer.user_data[0] = static_cast<std::byte>(message != nullptr ? Answer::returned : Answer::not_returned);
    send_header(parts, answer);
  }
}

void discard_messages(DeviceParts& parts, ContextId context) {
  const portals::Criteria all = receive_criteria(MPI_ANY_SOURCE, MPI_ANY_TAG, context);
  // Usually nothing is found. Then the loop below, which visits each message of the heap, is not needed.
  if (parts.heap.find(all) == nullptr) return;
  for (portals::ArrivedMessage *at = parts.heap.first(), *next = nullptr; at != nullptr; at = next) {
    // Read before release(), which frees the message that links to it.
    next = parts.heap.next(*at);
    const bool of_it = ((at->header.match_bits ^ all.match_bits) & ~all.ignore_bits) == 0;
    // The kernel still writes an incomplete message's memory. For a message with answer bits, a sender waits.
    if (of_it && at->complete && read_note(at->header.user_data).answer_bits == 0) {
      give_back(parts, *at, sim::TraceGivenBack::freed);
    }
  }
}

}  // namespace margay::mpi_adi
