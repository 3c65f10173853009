#include "sim/kernel/forward_frame.hpp"

#include <utility>

#include "portals/base/assert.hpp"

namespace margay::sim {

using portals::Header;

Header forward_header(const ForwardFrame& frame, std::uint32_t next, std::uint64_t bytes) {
  Header header;
  header.kind = portals::Kind::put;
  header.destination = {0, next};
  header.portal = kForwardPortal;
  header.match_bits = std::uint64_t{frame.origin} << 32U | frame.final;
  header.offset = frame.number;
  header.user_data[0] = static_cast<std::byte>(frame.kind);
  header.length = bytes;
  return header;
}

std::string read_forward_frame(const Header& header, std::uint32_t ranks, ForwardFrame& out) {
  const auto kind = std::to_integer<unsigned>(header.user_data[0]);
  out.kind = static_cast<ForwardKind>(kind);
  out.origin = static_cast<std::uint32_t>(header.match_bits >> 32U);
  out.final = static_cast<std::uint32_t>(header.match_bits);
  out.number = header.offset;
  if (header.kind != portals::Kind::put) return "it is not a put";
  if (kind < static_cast<unsigned>(ForwardKind::whole) || kind > static_cast<unsigned>(ForwardKind::left)) {
    return "its kind " + std::to_string(kind) + " is unknown";
  }
  if (out.origin >= ranks || out.final >= ranks) return "it names a rank outside of the job";
  if (header.length > kForwardPieceBytes) return "it is longer than a piece";
  const bool has_body =
      out.kind == ForwardKind::whole || out.kind == ForwardKind::begin || out.kind == ForwardKind::segment;
  if (has_body != (header.length != 0)) return "its length does not fit its kind";
  if (out.kind == ForwardKind::credit && (out.number == 0 || out.number > kForwardWindow)) {
    return "it returns " + std::to_string(out.number) + " credits, not 1 to " + std::to_string(kForwardWindow);
  }
  return {};
}

ForwardPaths::ForwardPaths(std::uint32_t me, std::vector<std::uint32_t> forwarder_of)
    : me_(me), forwarder_of_(std::move(forwarder_of)) {
  MARGAY_ASSERT(me_ < forwarder_of_.size());
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    MARGAY_ASSERT(forwarder_of_[rank] < ranks() && is_forwarder(forwarder_of_[rank]));
    if (rank != me_ && same_node(rank, me_)) locals_.push_back(rank);
  }
}

std::uint32_t ForwardPaths::next(std::uint32_t final) const {
  MARGAY_ASSERT(final != me_);
  if (same_node(me_, final)) return final;
  return is_forwarder(me_) ? forwarder_of_[final] : forwarder_of_[me_];
}

bool ForwardPaths::find_before(std::uint32_t origin, std::uint32_t final, std::uint32_t& before) const {
  if (!forwarded(origin, final) || me_ == origin) return false;
  if (me_ == forwarder_of_[origin]) {
    before = origin;
  } else if (me_ == forwarder_of_[final]) {
    before = forwarder_of_[origin];
  } else if (me_ == final) {
    before = forwarder_of_[final];
  } else {
    return false;
  }
  return true;
}

}  // namespace margay::sim
