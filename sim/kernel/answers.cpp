#include "sim/kernel/answers.hpp"

#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::sim {

namespace {

// Position, in an answer's user data, of the number of the answered message.
constexpr std::size_t kSequenceAt = 4;
static_assert(kSequenceAt + sizeof(std::uint64_t) <= portals::kUserDataBytes);

// The header of the answer to `asked`, without kind, length and saved parts.
portals::Header answer_to(const portals::Header& asked, std::uint64_t sequence) {
  portals::Header answer;
  answer.source = asked.destination;
  answer.destination = asked.source;
  answer.portal = asked.return_portal;
  answer.match_bits = asked.return_match_bits;
  answer.offset = asked.return_offset;
  // The answer returns the sender's own user data, except the bytes that are overwritten below and the saved parts.
  answer.user_data = asked.user_data;
  // A copy, because the position need not be aligned.
  std::memcpy(&answer.user_data[kSequenceAt], &sequence, sizeof sequence);
  return answer;
}

}  // namespace

std::uint64_t answered_sequence(const portals::Header& answer) {
  std::uint64_t sequence = 0;
  std::memcpy(&sequence, &answer.user_data[kSequenceAt], sizeof sequence);
  return sequence;
}

void Answers::acknowledge(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence) {
  MARGAY_ASSERT(verdict.acknowledge);
  portals::Header answer = answer_to(header, sequence);
  answer.kind = portals::Kind::acknowledgment;
  answer.user_data[0] = static_cast<std::byte>(verdict.saved);
  answer.return_length = verdict.landing.bytes();
  // Recorded before the message is sent, so that its arrival cannot have an earlier time.
  if (recorder_.on()) {
    recorder_.record(trace_answer(TraceKind::kernel_ack_sent, answer,
                                  initiator_.next_sequence(answer.destination.rank, way_of(sequence)), sequence));
  }
  // An acknowledgment has no body, so finish() has nothing to complete for it.
  if (!initiator_.try_send(answer, {}, way_of(sequence))) queue(answer, {}, header, way_of(sequence));
}

void Answers::reply(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence) {
  MARGAY_ASSERT(verdict.outcome == portals::Outcome::reply);
  portals::Header answer = answer_to(header, sequence);
  answer.kind = portals::Kind::reply;
  answer.length = verdict.landing.bytes();
  // The reply may arrive before try_send() returns, so the time and the number of its departure are taken before that
  // call.
  const WayCode way = way_of(sequence);
  const std::uint64_t number = initiator_.next_sequence(answer.destination.rank, way);
  const std::uint64_t stamp = recorder_.on() ? recorder_.stamp() : 0;
  const bool taken = initiator_.try_send(answer, verdict.landing, way);
  if (recorder_.on()) {
    TraceEvent event = trace_answer(TraceKind::kernel_reply_sent, answer, number, sequence);
    event.reason =
        body_reason(taken && answer.length != 0 ? initiator_.body_taken(answer.destination.rank, way) : TraceBody::none,
                    !verdict.landing.contiguous());
    recorder_.record(event, stamp);
  }
  if (taken) {
    // The body has been copied: the get is complete, and its memory may change.
    delivery_.complete(verdict, header);
  } else {
    queue(answer, verdict, header, way);
  }
}

void Answers::finish(Transmission& transmission) {
  MARGAY_ASSERT(transmission.owner_tag_kind == kOwnerKernel && queued_answers_ != 0);
  auto& pending = *static_cast<Pending*>(transmission.owner);
  if (pending.verdict.outcome == portals::Outcome::reply) {
    // failed: the peer is lost, and the descriptor's counters do not count the get.
    if (transmission.state == Transmission::State::failed) {
      delivery_.abandon(pending.verdict);
    } else {
      delivery_.complete(pending.verdict, pending.asked);
    }
  }
  free_.push_back(&pending);
  --queued_answers_;
}

void Answers::queue(const portals::Header& answer, const portals::Verdict& verdict, const portals::Header& asked,
                    WayCode way) {
  // The pool grows to the largest backlog and stays.
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Pending>());
    free_.push_back(pool_.back().get());
  }
  Pending& pending = *free_.back();
  free_.pop_back();
  pending.verdict = verdict;
  pending.asked = asked;
  pending.transmission = {};
  pending.transmission.header = answer;
  pending.transmission.body = answer.kind == portals::Kind::reply ? verdict.landing : portals::Region{};
  pending.transmission.may_change = (changing_portals_ >> asked.portal & 1) != 0;
  pending.transmission.way = way;
  pending.transmission.owner = &pending;
  pending.transmission.owner_tag_kind = kOwnerKernel;
  ++queued_answers_;
  initiator_.send(pending.transmission);
}

}  // namespace margay::sim
