// Every message straight from its sender to its receiver. Cost, k messages out and m in: max(k, m) α + n β, n all bytes
// of the busier side. For blocks of different lengths, of which nobody knows all; for long blocks, which no tree moves
// fewer times; for neighbours.
//
// In turns of kDirectAtOnce messages: the receives of a turn are posted, then its messages are sent, then what comes is
// awaited. So a rank of thousands has blocks in its match list for one turn.
#include <algorithm>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

namespace {

std::span<const PeerMessage> turn(std::span<const PeerMessage> all, std::size_t from) {
  return from < all.size() ? all.subspan(from, std::min(kDirectAtOnce, all.size() - from))
                           : std::span<const PeerMessage>();
}

}  // namespace

Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in) {
  for (std::size_t from = 0; from < std::max(out.size(), in.size()); from += kDirectAtOnce) {
    const std::span<const PeerMessage> expected = turn(in, from);
    std::vector<std::optional<Receive>> awaited(expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (expected[at].moves()) awaited[at].emplace(collective, expected[at].peer, expected[at].data);
    }
    for (const PeerMessage& message : turn(out, from)) {
      if (message.moves()) co_await Send(collective, message.peer, message.data);
    }
    for (std::optional<Receive>& receive : awaited) {
      if (!receive) continue;
      Receive& message = *receive;
      co_await message;
    }
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
