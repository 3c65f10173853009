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
  if (!collective.gone_wrong() && !collective.asks(body_.bytes())) [[likely]] {
    transmit();
    return over_ = true;
  }
  if (!collective.gone_wrong() && !wait_.decided()) return false;
  // The mark is taken back in every case, as no answer is expected any more.
  wait_.end();
  if (collective.gone_wrong()) {
    collective.refuse(wait_.destination());
  } else if (collective.call_.has_said(wait_.destination(), collective.ready_kind())) {
    transmit();
  } else {
    collective.fail_for_nothing(wait_.destination());
  }
  return over_ = true;
}

// Reports to a receiver that no message comes, and why.
void Collective::refuse(int destination) {
  fail(MPI_ERR_TRUNCATE);
  const bool lost = error_class() == MPIX_ERR_PROC_FAILED;
  portal_.notices().send(call_, destination, lost ? NoticeKind::lost : NoticeKind::refuse);
}

bool ReadyWait::decided() {
  Collective& collective = collective_;
  CallState& call = collective.call_;
  if (call.has_said(destination_, collective.ready_kind()) || call.wrong || collective.lost(destination_)) return true;
  // The receiver's program may be computing, as this one's may be: its coprocessor then has to be woken for the notice.
  if (collective.flow_.suspends() && !expecting_) {
    expecting_ = true;
    expect_from(destination_);
  }
  // The receiver never asks if it takes the call for another one, in which nothing is asked for: an offer settles that.
  if (++polls_ == kPollsBeforeOffer) {
    collective.portal_.notices().send_offer(call, destination_);
  } else if (polls_ < kPollsBeforeOffer && call.task != nullptr) {
    // A nonblocking call polls kPollsBeforeOffer times, as nothing else would wake it for the offer.
    call.task->wake();
  }
  return false;
}

void ReadyWait::end() {
  if (!std::exchange(expecting_, false)) return;
  answered_by(destination_);
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

// A message that is not asked for leaves before the receive begins.
Collective& Exchange::begun(std::uint64_t bytes) {
  if (!collective_.asks(bytes)) static_cast<void>(send_.advance());
  return collective_;
}

}  // namespace margay::collectives
