// The choice of the address on which a rank listens: one chosen address of this host, never the any-address.
#pragma once

#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// `wanted`: an interface's name ("eth0"), a numeric address, or a network ("10.1.0.0/16"); empty: the first interface
// that is up and not loopback, otherwise loopback. No name is resolved. The failure names `wanted` and the existing
// interfaces.
[[nodiscard]] portals::Status choose_address(const std::string& wanted, std::string& address);

}  // namespace margay::sim
