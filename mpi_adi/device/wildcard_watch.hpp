// The interfaces of an exploration of schedules, which follows and chooses the matches of wildcards: WildcardWatch is
// the explorer's, ReceiveHold the device's (protocol/held_receives). In a real run there is neither.
#pragma once

#include <cstdint>
#include <vector>

#include "portals/base/header.hpp"

namespace margay::portals {
struct ArrivedMessage;
}  // namespace margay::portals

namespace margay::mpi_adi {

struct CheckedReceive;
struct ReceiveRequest;

// A receive or a probe from MPI_ANY_SOURCE that may take the message of any of several senders.
struct WildcardChoice {
  // The wildcard's number among those of its rank, from 1, in the order of the calls.
  std::uint32_t number = 0;
  portals::Criteria criteria;
  // The sources of the messages that it may take, as ranks of its communicator, ascending: their order must not depend
  // on times, which a trace changes.
  std::vector<int> sources;
};

// The message of a wildcard.
struct WildcardMatch {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  int source = 0;          // as a rank of the communicator
  std::uint32_t from = 0;  // as a rank of the world
  // The message's number in its pair of ranks; 0: no trace records.
  std::uint64_t sequence = 0;
};

// All functions are called under the process lock. `rank` is a rank of the world; `bits` are a message's match bits
// without the type bits, so they name communicator, tag and source.
class WildcardWatch {
 public:
  WildcardWatch() = default;
  WildcardWatch(const WildcardWatch&) = delete;
  WildcardWatch& operator=(const WildcardWatch&) = delete;
  virtual ~WildcardWatch() = default;

  // A send begins.
  virtual void sent(std::uint32_t rank, std::uint32_t destination, portals::MatchBits bits) = 0;
  // A receive of `rank` is complete.
  virtual void received(std::uint32_t rank, std::uint32_t source, portals::MatchBits bits) = 0;
  // A wildcard has a message.
  virtual void matched(const WildcardMatch& match) = 0;
};

// The steps of a device's protocols that an exploration changes or follows. Called under the process lock.
class ReceiveHold {
 public:
  ReceiveHold() = default;
  ReceiveHold(const ReceiveHold&) = delete;
  ReceiveHold& operator=(const ReceiveHold&) = delete;
  virtual ~ReceiveHold() = default;

  // Posts a receive, and returns true, if it must be held. Called after the receive is recorded, instead of its search.
  // Requires: its criteria are set, and it is in no list.
  [[nodiscard]] virtual bool hold(ReceiveRequest& request, const CheckedReceive& receive) = 0;
  // The message that a probe of the program finds; nullptr: none yet. `takes_out`: a matched probe, after which no
  // other one finds the message.
  [[nodiscard]] virtual portals::ArrivedMessage* probe(const portals::Criteria& criteria, bool takes_out) = 0;
  // A send begins; `header`: its first message's.
  virtual void sent(const portals::Header& header) = 0;
  // A receive is complete.
  virtual void completed(const ReceiveRequest& request) = 0;
};

}  // namespace margay::mpi_adi
