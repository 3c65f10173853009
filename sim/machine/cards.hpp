// The exchange of socket addresses among the ranks of several nodes, through PMI. A rank's *card* is a text: the
// address at which its TCP wire listens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/job.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

// Fills in the backend and the address of `settings` from the job's options, and the secret from the job. A failure
// quotes the invalid value. Sends nothing.
[[nodiscard]] portals::Status choose_tcp(const Job& job, TcpWire::Settings& settings);
// Whether two cards have the same address, apart from the port. False if one of them is empty. Processes of one host
// may have different addresses.
[[nodiscard]] bool have_same_host(std::string_view one, std::string_view other);
// Publishes `own`, this rank's card, and fills `cards`, by rank, with the cards of the ranks that TCP reaches
// (`reached`), as far as they belong to this rank's world. The other elements stay empty. Collective over the world:
// blocks in a PMI barrier until all its ranks have published their cards. Costs one request to the launcher for each
// rank that is reached.
[[nodiscard]] portals::Status exchange_cards(const Job& job, const std::string& own, const std::vector<bool>& reached,
                                             std::vector<std::string>& cards);
// The card of a rank of another world, whose number is `world`; empty: it has not published one. Costs a request to the
// launcher. Requires: exchange_cards() has succeeded.
[[nodiscard]] std::string late_card(const Job& job, std::uint32_t world, std::uint32_t rank);

}  // namespace margay::sim
