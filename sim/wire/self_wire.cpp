#include "sim/wire/self_wire.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

using portals::Header;
using portals::Region;
using portals::RegionCursor;

bool SelfWire::try_send(std::uint32_t peer, const Header& header, const Region& body) {
  MARGAY_ASSERT(peer == me_.rank && body.bytes() == header.length);
  // While a message is queued, no copy may be made, because poll() returns copies first, and the copy would overtake
  // the queued message.
  if (!queue_.empty() || copied_ == kSelfSlots || header.length > kSelfCopyBytes) return false;
  if (!slots_) slots_ = std::make_unique<Slots>();
  Slot& slot = (*slots_)[(first_ + copied_) % kSelfSlots];
  slot.header = header;
  // A copy, so that the sender may reuse its memory at once.
  RegionCursor(body).read({slot.body.data(), static_cast<std::size_t>(header.length)});
  ++copied_;
  quiet_ = false;
  return true;
}

void SelfWire::send(std::uint32_t peer, Transmission& transmission) {
  // The body stays in the sender's memory until consume().
  MARGAY_ASSERT(peer == me_.rank && transmission.body.bytes() == transmission.header.length);
  transmission.state = Transmission::State::queued;
  transmission.method = TraceBody::straight;
  transmission.copied_bytes = 0;
  queue_.push(transmission);
  quiet_ = false;
}

void SelfWire::stop(std::uint32_t peer, Transmission& transmission) {
  MARGAY_ASSERT(peer == me_.rank);
  if (transmission.state == Transmission::State::queued) transmission.stop_asked = true;
}

bool SelfWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  // A queued message has not begun to leave unless poll() has offered it.
  MARGAY_ASSERT(peer == me_.rank && !offered_);
  return queue_.replace(transmission, instead);
}

// Makes a held message visible again. push() has no sends to continue, because poll() returns queued messages.
bool SelfWire::push() {
  held_ = false;
  return false;
}

bool SelfWire::poll(Arrival& arrival) {
  MARGAY_ASSERT(!offered_);
  // A held message stays invisible until the next push(), so that this round ends.
  if (held_) return false;
  if (copied_ != 0) {
    Slot& slot = (*slots_)[first_];
    fill(slot.header, Region(slot.body.data(), static_cast<std::size_t>(slot.header.length)), arrival);
    return true;
  }
  const Transmission* first = queue_.front();
  if (first == nullptr) return false;
  fill(first->header, first->body, arrival);
  return true;
}

void SelfWire::fill(const Header& header, const Region& body, Arrival& arrival) {
  arrival.kind = Arrival::Kind::whole;
  arrival.peer = me_.rank;
  arrival.sequence = sequence_ + 1;
  arrival.header = header;
  arrival.header.source = arrival.header.destination = me_;
  arrival.body = body;
  arrival.cookie = nullptr;
  offered_ = true;
}

void SelfWire::consume() {
  MARGAY_ASSERT(offered_);
  offered_ = false;
  ++sequence_;
  // body_report() reads this flag after the message has left the queue.
  was_copy_ = copied_ != 0;
  if (copied_ != 0) {
    first_ = (first_ + 1) % kSelfSlots;
    --copied_;
  } else {
    // The receiver has copied the body.
    Transmission* done = queue_.pop();
    done->state = Transmission::State::sent;
    finished_.push(*done);
  }
  // If nothing is left, the kernel skips this wire until the next send.
  quiet_ = idle();
}

void SelfWire::hold() {
  MARGAY_ASSERT(offered_);
  offered_ = false;
  held_ = true;
}

void SelfWire::accept(const Region&, void*) {
  MARGAY_ASSERT(false && "a message to oneself is always whole");
}
void SelfWire::refuse() {
  MARGAY_ASSERT(false && "a message to oneself is always whole");
}

}  // namespace margay::sim
