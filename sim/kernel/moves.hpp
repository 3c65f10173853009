// Moves of ordered pairs from one way to another, with messages under way. The sender puts an end marker on the old way
// and a begin marker on the new one. The receiver holds the begin marker, and with it all later messages of the new
// way, until the end marker has arrived. So messages that were sent by the new way after the move are delivered behind
// those that were sent by the old way before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "portals/base/header.hpp"
#include "sim/base/message_number.hpp"

namespace margay::sim {

// The portal of markers in a process that runs MPI. A program on portals uses it as its control portal, and does not
// move.
inline constexpr portals::PortalIndex kMarkerPortal = 63;

// The markers of one process, in both directions. Used under the process lock.
class Moves {
 public:
  enum class Role : std::uint8_t { end = 1, begin = 2 };

  // Begins to treat puts to kMarkerPortal as markers.
  void enable() { enabled_ = true; }
  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] bool is_marker(const portals::Header& header) const {
    return enabled_ && header.kind == portals::Kind::put && header.length == 0;
  }

  // The number of a new move to `peer`.
  [[nodiscard]] std::uint32_t next(std::uint32_t peer) { return ++begun_[peer]; }
  [[nodiscard]] static portals::Header marker(std::uint32_t peer, std::uint32_t number, WayCode old_way, Role role) {
    portals::Header header;
    header.kind = portals::Kind::put;
    header.destination = {0, peer};
    header.portal = kMarkerPortal;
    header.match_bits = std::uint64_t{number} << 16U | std::uint64_t{old_way} << 8U | static_cast<unsigned>(role);
    return header;
  }
  // The way that the marker's move leaves.
  [[nodiscard]] static WayCode old_way(const portals::Header& marker) {
    return static_cast<WayCode>(marker.match_bits >> 8U);
  }

  // Handles a marker that arrived by `way`; `old_lost`: its old way is lost. false: it must be held. Another marker
  // than those of move() is ignored.
  [[nodiscard]] bool take(const portals::Header& marker, WayCode way, bool old_lost) {
    const auto number = static_cast<std::uint32_t>(marker.match_bits >> 16U);
    const std::uint32_t source = marker.source.rank;
    switch (static_cast<Role>(marker.match_bits & 0xffU)) {
      case Role::end: {
        std::uint32_t& ended = ended_[message_number(way, source)];
        ended = std::max(ended, number);
        return true;
      }
      case Role::begin: {
        const auto found = ended_.find(message_number(old_way(marker), source));
        return old_lost || old_way(marker) == way || (found != ended_.end() && found->second >= number);
      }
    }
    return true;
  }

 private:
  bool enabled_ = false;
  // By peer: the number of this process's latest move.
  std::unordered_map<std::uint32_t, std::uint32_t> begun_;
  // By way and source: the number of the latest end marker.
  std::unordered_map<std::uint64_t, std::uint32_t> ended_;
};

}  // namespace margay::sim
