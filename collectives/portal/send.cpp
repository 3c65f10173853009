#include <utility>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

namespace {

// Polls before an offer is sent. Most receivers have reported by then that they are ready, and a rank that yields
// between polls has not gone to sleep yet.
constexpr int kPollsBeforeOffer = 16;

}  // namespace

bool Send::advance() {
  if (over_) return true;
  Collective& collective = collective_;
  // Short messages leave without waiting.
  if (!collective.has_call_failed() && !collective.asks(body_.bytes())) [[likely]] {
    transmit();
    return over_ = true;
  }
  if (!collective.has_call_failed() && !wait_.decided()) return false;
  // The mark is taken back in every case, because no answer is expected any more.
  wait_.end();
  if (collective.has_call_failed()) {
    collective.refuse(wait_.destination());
  } else if (collective.call_.has_notice(wait_.destination(), collective.ready_kind())) {
    transmit();
  } else {
    collective.fail_for_missing_message(wait_.destination());
  }
  return over_ = true;
}

// Reports to a receiver that no message will be sent, and why.
void Collective::refuse(int destination) {
  fail(MPI_ERR_TRUNCATE);
  const bool lost = error_class() == MPIX_ERR_PROC_FAILED;
  portal_.notices().send(call_, destination, lost ? NoticeKind::lost : NoticeKind::refuse);
}

bool ReadyWait::decided() {
  Collective& collective = collective_;
  CallState& call = collective.call_;
  if (call.has_notice(destination_, collective.ready_kind()) || call.wrong || collective.is_unreachable(destination_))
    return true;
  // Both programs may be computing. Then the receiver's coprocessor has to be woken, because it sends the notice.
  if (collective.flow_.suspends() && !expecting_) {
    expecting_ = true;
    expect_from(destination_);
  }
  // A receiver that makes a different call may never send a "ready". The answer to an offer shows this.
  if (++polls_ == kPollsBeforeOffer) {
    collective.portal_.notices().send_offer(call, destination_);
  } else if (polls_ < kPollsBeforeOffer && call.task != nullptr) {
    // A nonblocking call wakes itself until it has polled kPollsBeforeOffer times, because no event wakes it for the
    // offer.
    call.task->wake();
  }
  return false;
}

void ReadyWait::end() {
  if (!std::exchange(expecting_, false)) return;
  count_answer_from(destination_);
}

void Send::transmit() {
  const int stamp = to_row_ ? row_stamp(body_.bytes()) : collective_.rank();
  portals::Header header = collective_.header_to(wait_.destination(), body_.bytes(), stamp);
  if (to_row_) header.offset = row_ * body_.bytes();
  collective_.transmit(header, body_);
}

Exchange::Exchange(Collective& collective, int destination, std::byte* body, int source, std::byte* landing,
                   std::uint64_t bytes)
    : Part(collective),
      send_(collective, destination, portals::Region(body, bytes)),
      receive_(begun(bytes), source, portals::Region(landing, bytes)) {}

// A message that needs no "ready" leaves before the receive begins.
Collective& Exchange::begun(std::uint64_t bytes) {
  if (!collective_.asks(bytes)) static_cast<void>(send_.advance());
  return collective_;
}

}  // namespace margay::collectives
