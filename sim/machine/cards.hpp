// The exchange of socket addresses among ranks of several nodes, by the job's options and through PMI.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/job.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

// Sets backend, address and secret from the job's options. The failure names the option. Sends nothing.
[[nodiscard]] portals::Status choose_tcp(const Job& job, TcpWire::Settings& settings);
// Publishes `own`, and gets the cards of the ranks on other nodes; the elements of the others stay empty. Collective
// over the job. Blocks in a PMI barrier until all ranks have published theirs. Costs one request to the launcher for
// each rank on another node.
[[nodiscard]] portals::Status exchange_cards(const Job& job, const std::string& own, std::vector<std::string>& cards);

}  // namespace margay::sim
