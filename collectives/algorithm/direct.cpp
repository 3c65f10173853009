// Every message straight from its sender to its receiver. Cost, k messages out and m in: max(k, m) α + n β, n all bytes
// of the busier side. For blocks of different lengths, of which nobody knows all; for long blocks, which no tree moves
// fewer times; for neighbours.
//
// In turns of so many messages: the receives of a turn are posted, then its messages are sent, each as soon as
// its receiver is ready, then what comes is awaited. So a rank of thousands has blocks in its match list for one turn.
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

namespace {

std::span<const PeerMessage> turn(std::span<const PeerMessage> all, std::size_t from, std::size_t at_once) {
  return from < all.size() ? all.subspan(from, std::min(at_once, all.size() - from)) : std::span<const PeerMessage>();
}

}  // namespace

Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in,
                        std::size_t at_once) {
  const std::size_t all = std::max(out.size(), in.size());
  for (std::size_t from = 0; from < all; from += std::min(at_once, all)) {
    const std::span<const PeerMessage> expected = turn(in, from, at_once);
    std::vector<std::optional<Receive>> awaited(expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (expected[at].moves()) awaited[at].emplace(collective, expected[at].peer, expected[at].data);
    }
    std::deque<Send> waiting;
    for (const PeerMessage& message : turn(out, from, at_once)) {
      if (!message.moves()) continue;
      if (collective.asks(message.data.bytes())) {
        waiting.emplace_back(collective, message.peer, message.data);
      } else {
        co_await Send(collective, message.peer, message.data);
      }
    }
    co_await SendEach(collective, waiting);
    for (std::optional<Receive>& receive : awaited) {
      if (!receive) continue;
      Receive& message = *receive;
      co_await message;
    }
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
