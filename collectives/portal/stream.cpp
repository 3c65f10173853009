#include "collectives/portal/stream.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

StreamReceive::StreamReceive(Collective& collective, int source, const portals::Region& landing, std::uint64_t bytes)
    : Part(collective), source_(source), bytes_(bytes), portal_(collective.portal_.take_stream()) {
  if (landing.contiguous()) {
    single_.emplace(landing.single());
  } else {
    combined_.emplace(landing);
  }
  collective.own(memory());
  // Each piece names its offset in the block.
  const portals::Options at_their_offsets{.save = portals::Save::body, .offset_by = portals::OffsetBy::sender};
  if (portal_ != mpi_adi::kCollectiveTreePortal) {
    const bool attached = collective.kernel_.table().attach(portal_, memory(), at_their_offsets).ok();
    MARGAY_ASSERT(attached);
  } else {
    entry_.set(collective.from(source), memory(), at_their_offsets);
    collective.portal_.list_.insert_before(collective.portal_.heap_.first_catch_all(), entry_);
  }
  expecting_ = true;
  expect_from(source_);
  collective.send_ready(source, portal_);
}

StreamReceive::~StreamReceive() {
  if (attached_) detach();
  end_waiting();
}

portals::Descriptor& StreamReceive::memory() {
  if (single_) return *single_;
  return *combined_;
}

// A complete stream's portal returns to the pool. Pieces of an incomplete stream may still arrive, and must not reach
// the block of another stream, so its portal is not used again.
void StreamReceive::detach() {
  attached_ = false;
  if (portal_ == mpi_adi::kCollectiveTreePortal) return collective_.portal_.list_.remove(entry_);
  collective_.kernel_.table().detach(portal_);
  if (memory().bytes() == bytes_) collective_.portal_.give_back_stream(portal_);
}

void StreamReceive::end_waiting() {
  if (!expecting_) return;
  expecting_ = false;
  count_answer_from(source_);
}

bool StreamReceive::advance_to(std::uint64_t bytes) {
  if (memory().bytes() >= bytes) return true;
  if (attached_) {
    const CallState& call = collective_.call_;
    // Nothing more arrives in any of these cases.
    if (!collective_.is_unreachable(source_) && !call.refuses(source_) && !call.wrong) return false;
    detach();
    end_waiting();
    collective_.fail_for_missing_message(source_);
  }
  // The kernel may still copy a piece; that must end before the caller may use its memory again.
  return memory().reserved_messages() == 0;
}

bool StreamSend::advance_to(std::uint64_t /*bytes*/) {
  if (!collective_.has_call_failed() && !wait_.decided()) return false;
  wait_.end();
  const CallState::NoticeRecord* const ready =
      collective_.call_.find_notice(wait_.destination(), collective_.ready_kind());
  if (ready != nullptr) portal_ = ready->portal;
  // A "ready" without a portal comes from a receiver whose call has no streams: the call fails, below.
  if (collective_.has_call_failed()) {
    refuse();
  } else if (ready == nullptr || portal_ == portals::kNoPortal) {
    collective_.fail_for_missing_message(wait_.destination());
  }
  return true;
}

void StreamSend::send(const portals::Region& piece, std::uint64_t offset) {
  if (collective_.has_call_failed()) return refuse();
  portals::Header header = collective_.header_to(wait_.destination(), piece.bytes(), collective_.rank());
  header.portal = portal_;
  header.offset = offset;
  collective_.transmit(header, piece);
}

void StreamSend::refuse() {
  if (refused_) return;
  refused_ = true;
  collective_.refuse(wait_.destination());
}

}  // namespace margay::collectives
