// Which of this host's addresses a rank listens on: one chosen address, never any-address.
#pragma once

#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

// `wanted`: an interface's name ("eth0"), a numeric address, or a network ("10.1.0.0/16"); empty: the first interface
// that is up and not loopback, or loopback when there is no other. Nothing is looked up. Error: names what was wanted
// and the interfaces that are there.
[[nodiscard]] portals::Status choose_address(const std::string& wanted, std::string& address);

}  // namespace margay::sim
