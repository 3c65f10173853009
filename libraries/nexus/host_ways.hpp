// The ways of the host, by the names of Nexus's methods: local is the wire "self".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "margay/host.hpp"

namespace margay::nexus::core {

// A way to a peer, or why there is none.
struct HostWay {
  std::uint8_t way = 0;
  std::string why_not;
  std::uint64_t short_limit = 0;
};

[[nodiscard]] inline HostWay find_host_way(host::Rank& rank, std::uint32_t peer, std::string_view wire) {
  const std::string_view usual = peer == rank.rank() ? "self" : rank.on_node(peer) ? "shm" : "tcp";
  if (wire == usual) return {0, {}, 16384};
  if (wire == "self") return {0, "it is another context", 0};
  if (wire == "shm") return {0, usual == "self" ? "it is this context" : "the contexts lie on different nodes", 0};
  return {0, usual == "self" ? "it is this context" : "the wire is not open between these contexts; `margay run --way` opens it", 0};
}
[[nodiscard]] inline bool try_send_by(host::Rank& rank, std::uint8_t, const portals::Header& header,
                                      const portals::Region& body) {
  return rank.try_send(header, body);
}
inline void set_way(host::Outgoing&, std::uint8_t) {}
[[nodiscard]] inline bool way_lost(host::Rank& rank, std::uint32_t peer, std::uint8_t) {
  return rank.lost(peer);
}

}  // namespace margay::nexus::core
