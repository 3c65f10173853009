// How ranks of several nodes learn of each other's sockets, from the job's options and through PMI.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/job.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

// Backend and address, as the job's options say. Error: names the option.
[[nodiscard]] portals::Status choose_tcp(const Job& job, TcpWire::Settings& settings);
// Publishes `own` and gets the cards of the ranks on other nodes; the others' places stay empty. Collective over the
// job.
[[nodiscard]] portals::Status exchange_cards(const Job& job, const std::string& own, std::vector<std::string>& cards);

}  // namespace margay::sim
