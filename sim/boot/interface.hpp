// The choice of the one address of this host on which a rank listens. It is the any-address only if the user names it.
#pragma once

#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// Chooses the address. `wanted`: an interface's name ("eth0"), a numeric address, or a network ("10.1.0.0/16"); empty:
// the first interface that is up and not loopback, otherwise loopback. Host names are not resolved. The failure names
// `wanted`, and for a name or a network also the interfaces that are up.
[[nodiscard]] portals::Status choose_address(const std::string& wanted, std::string& address);

}  // namespace margay::sim
