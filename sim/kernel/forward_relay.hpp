// The receiving side of forwarding: authenticates each arrived frame by the neighbour that put it, and passes it on, or
// hands it to this process's ForwardWire.
//
// Only a forwarder, the first rank of its node, passes frames on. It keeps only counts: a frame moves from the memory
// of one wire directly to the next wire, or is queued there (ForwardHops).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/kernel/forward_wire.hpp"

namespace margay::sim {

// One process's relay. Used under the process lock.
class ForwardRelay {
 public:
  // Both outlive the relay.
  ForwardRelay(ForwardHops& hops, ForwardWire& wire) : hops_(hops), wire_(wire) {}

  // Called with one line for each refused frame, which names the neighbour and the ranks of the frame.
  void report_to(std::function<void(const std::string&)> report) { report_ = std::move(report); }

  // Handles a put to kForwardPortal by the neighbour `header.source`, which its wire has authenticated; `body` is read
  // before the return. false: the frame is refused and must be dropped. No content of header and body is trusted.
  [[nodiscard]] bool take(const portals::Header& header, const portals::Region& body);
  // The wire of a neighbour reported its end: all ranks behind it are lost, too.
  void neighbour_lost(std::uint32_t rank, std::string_view reason, bool left);

  // Numbers of pieces passed on, and of refused frames.
  [[nodiscard]] std::uint64_t passed() const { return passed_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  // A flow through this process.
  struct Flow {
    // Pieces that passed and for which no credit has passed back.
    std::uint32_t under_way = 0;
    // Credits for a neighbour that sent bye, kept until it sends again.
    std::uint32_t parked = 0;
  };
  [[nodiscard]] static std::uint64_t key(std::uint32_t origin, std::uint32_t final) {
    return std::uint64_t{origin} << 32U | final;
  }

  // The steps of take(). Each returns the mistake; empty: there is none.
  [[nodiscard]] std::string authenticate(const ForwardFrame& frame, std::uint32_t from) const;
  [[nodiscard]] std::string take_notice(const ForwardFrame& frame, std::uint32_t from);
  [[nodiscard]] std::string hand_over(const ForwardFrame& frame, const portals::Region& body);
  [[nodiscard]] std::string pass_on(const ForwardFrame& frame, const portals::Region& body);
  void pass_credit(const ForwardFrame& frame, std::uint32_t next, Flow& flow);
  // Sends `from` the credits that were parked for it.
  void unpark(std::uint32_t from);
  // Reports the loss of `rank`, and of the ranks that it forwards for, to this process's wire.
  void lose(std::uint32_t rank, std::string_view reason, bool left);
  // Whether the final process of a frame is gone. If so, the process before this one on the frame's path gets the
  // notice, which it may lack: it was no neighbour, or had said goodbye, when the process ended.
  [[nodiscard]] bool answer_gone(const ForwardFrame& frame);
  // Sends a notice about `rank` to the neighbours of this node, or of others.
  void notify(std::uint32_t rank, bool left, bool own_node);
  void refuse(const portals::Header& header, const ForwardFrame& frame, const std::string& mistake);

  ForwardHops& hops_;
  ForwardWire& wire_;
  std::function<void(const std::string&)> report_;
  // By key().
  std::unordered_map<std::uint64_t, Flow> flows_;
  // In a forwarder: the ranks from which nothing arrives any more, and whether they left in order.
  std::map<std::uint32_t, bool> gone_;
  std::uint64_t passed_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace margay::sim
