#include "mpi_adi/protocol/cancel.hpp"

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/notice.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Names no send (answer_bits: a generation is never 0).
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

// True: nothing of the message had left its wire's queue, and the send is over, cancelled. A question about nothing
// went in its place, as both sides count the pair's messages. False: its wire has begun with it, or is done with it.
bool take_back(DeviceParts& parts, SendRequest& send) {
  if ((send.owed & kOwedBodyTaken) == 0) return false;
  if (!send_instead(parts, send.transmission, to_peer(parts, kCancelPortal, send.peer, kAboutNothing))) return false;
  send.cancelled = true;
  send.owed = 0;
  complete_if_nothing_owed(parts, send);
  return true;
}

}  // namespace

// A send that waits for its receiver is known there by its answer bits. One that only waits for room on the wire is
// not, and will be over without the receiver.
void ask_back(DeviceParts& parts, SendRequest& send, AskBack why) {
  constexpr unsigned kReceivers = kOwedAcknowledgment | kOwedRead | kOwedSynchronous;
  if ((send.owed & kReceivers) == 0 || (send.owed & kOwedCancel) != 0) return;
  if (!send.listening) listen(parts, send);
  owes(send, kOwedCancel);
  portals::Header question = to_peer(parts, kCancelPortal, send.peer, answer_bits_of(send));
  question.user_data[0] = static_cast<std::byte>(why);
  send_notice(parts, question);
}

namespace {

// The message that is named so and that no receive has; nullptr when there is none. The question came behind it.
portals::ArrivedMessage* unmatched(DeviceParts& parts, const portals::Header& question) {
  for (portals::ArrivedMessage* at = parts.heap.first(); at != nullptr; at = parts.heap.next(*at)) {
    if (at->header.source.rank != question.source.rank) continue;
    if (read_note(at->header.user_data).answer_bits == question.match_bits) return at->complete ? at : nullptr;
  }
  return nullptr;
}

// A message leaves the heap unread.
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
  // A row that is reserved or filled has its message.
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

void cancels_asked(DeviceParts& parts) {
  while (portals::ArrivedMessage* const question = parts.cancels.first()) {
    const portals::Header header = question->header;
    parts.cancels.release(*question);
    if (header.match_bits == kAboutNothing) continue;
    portals::ArrivedMessage* const message = unmatched(parts, header);
    if (message != nullptr) {
      const bool leaked = static_cast<AskBack>(header.user_data[0]) == AskBack::nobody_receives;
      if (leaked && parts.keeps_unreceived) parts.unreceived.push_back(message->header);
      give_back(parts, *message, leaked ? sim::TraceGivenBack::never_wanted : sim::TraceGivenBack::cancelled);
    }
    portals::Header answer = to_peer(parts, kAcknowledgmentPortal, header.source.rank, header.match_bits);
    answer.user_data[0] = static_cast<std::byte>(message != nullptr ? Answer::returned : Answer::not_returned);
    send_notice(parts, answer);
  }
}

void forget_messages(DeviceParts& parts, ContextId context) {
  const portals::Criteria all = receive_criteria(MPI_ANY_SOURCE, MPI_ANY_TAG, context);
  if (parts.heap.find(all) == nullptr) return;
  for (portals::ArrivedMessage *at = parts.heap.first(), *next = nullptr; at != nullptr; at = next) {
    next = parts.heap.next(*at);
    const bool of_it = ((at->header.match_bits ^ all.match_bits) & ~all.ignore_bits) == 0;
    if (of_it && at->complete && read_note(at->header.user_data).answer_bits == 0) {
      give_back(parts, *at, sim::TraceGivenBack::freed);
    }
  }
}

}  // namespace margay::mpi_adi
