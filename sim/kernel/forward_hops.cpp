#include "sim/kernel/forward_hops.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

void ForwardHops::post(const ForwardFrame& frame, std::uint32_t next, const portals::Region& body) {
  MARGAY_ASSERT(initiator_ != nullptr && next != paths_.me());
  static_cast<void>(neighbour(next));
  const portals::Header header = forward_header(frame, next, body.bytes());
  if (initiator_->try_send(header, body)) return;
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Pending>());
    free_.push_back(pool_.back().get());
  }
  Pending& pending = *free_.back();
  free_.pop_back();
  pending.body.resize(static_cast<std::size_t>(body.bytes()));
  portals::RegionCursor(body).read(pending.body);
  pending.transmission = {};
  pending.transmission.header = header;
  pending.transmission.body = portals::Region(pending.body.data(), pending.body.size());
  pending.transmission.owner = &pending;
  pending.transmission.owner_tag_kind = kOwnerForward;
  initiator_->send(pending.transmission);
}

void ForwardHops::post_hint(const ForwardFrame& frame, std::uint32_t next) {
  static_cast<void>(neighbour(next));
  static_cast<void>(initiator_->try_send(forward_header(frame, next, 0), {}));
}

// Ignores the state: the wire itself reports the loss of the neighbour.
void ForwardHops::finish(Transmission& transmission) {
  MARGAY_ASSERT(transmission.owner_tag_kind == kOwnerForward);
  free_.push_back(static_cast<Pending*>(transmission.owner));
}

}  // namespace margay::sim
