// Every message straight from its sender to its receiver. Cost, k messages out and m in: max(k, m) α + n β, n all bytes
// of the busier side. For blocks of different lengths, of which nobody knows all; for long blocks, which no tree moves
// fewer times; for neighbours.
//
// In turns of kAtOnce messages: the receives of a turn are posted, then its messages are sent, then what comes is
// awaited. So a rank of thousands has blocks in its match list for one turn.
#include <algorithm>
#include <deque>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

namespace {

constexpr std::size_t kAtOnce = 64;

std::span<const PeerMessage> turn(std::span<const PeerMessage> all, std::size_t from) {
  return from < all.size() ? all.subspan(from, std::min(kAtOnce, all.size() - from)) : std::span<const PeerMessage>();
}

}  // namespace

Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in) {
  for (std::size_t from = 0; from < std::max(out.size(), in.size()); from += kAtOnce) {
    std::deque<Receive> awaited;
    for (const PeerMessage& message : turn(in, from)) {
      if (message.moves()) awaited.emplace_back(collective, message.peer, message.data);
    }
    for (const PeerMessage& message : turn(out, from)) {
      if (message.moves()) co_await Send(collective, message.peer, message.data);
    }
    for (Receive& receive : awaited) co_await receive;
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
