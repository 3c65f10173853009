// The ways of the host, by the names of Nexus's methods: local is the wire "self".
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "margay/host.hpp"

namespace margay::nexus::core {

// A way to a peer, or the reason why it is not open.
struct HostWay {
  std::uint8_t way = 0;
  std::string why_not;
  std::uint64_t short_limit = 0;
};

[[nodiscard]] inline HostWay find_host_way(host::Rank& rank, std::uint32_t peer, std::string_view wire) {
  const host::WayRow row = rank.find_way(peer, std::string(wire).c_str());
  if (!row.why_not.empty() && wire == "shm") {
    // A simulated machine with one network has the wire "virtual" in the place of shared memory.
    const host::WayRow simulated = rank.find_way(peer, "virtual");
    if (simulated.is_usual) return {static_cast<std::uint8_t>(simulated.way), {}, simulated.short_limit};
  }
  return {static_cast<std::uint8_t>(row.way), row.why_not, row.short_limit};
}
[[nodiscard]] inline bool try_send_by(host::Rank& rank, std::uint8_t way, const portals::Header& header,
                                      const portals::Region& body) {
  return rank.try_send_by(static_cast<host::Way>(way), header, body);
}
// Whether a way that a message has named leads to the peer.
[[nodiscard]] inline bool is_open_way(host::Rank& rank, std::uint32_t peer, std::uint8_t way) {
  const std::vector<host::WayRow> rows = rank.ways(peer);
  return std::ranges::any_of(rows, [way](const host::WayRow& row) {
    return row.why_not.empty() && static_cast<std::uint8_t>(row.way) == way;
  });
}
inline void set_way(host::Outgoing& message, std::uint8_t way) {
  message.way = static_cast<host::Way>(way);
}
[[nodiscard]] inline bool way_lost(host::Rank& rank, std::uint32_t peer, std::uint8_t way) {
  return rank.way_lost(peer, static_cast<host::Way>(way));
}

}  // namespace margay::nexus::core
