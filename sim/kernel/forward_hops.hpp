// The sending side of forwarding: puts frames to the next process on their path, and keeps the list of neighbours, with
// which this process exchanges hops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "portals/base/region.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/forward_frame.hpp"
#include "sim/kernel/initiator.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// Owner tag of the transmissions of forwarding.
inline constexpr std::uint32_t kOwnerForward = ~std::uint32_t{0};

// The hops of one process. Used under the process lock. A frame that its wire cannot take at once is copied and queued;
// the windows of the flows bound the number of these copies.
class ForwardHops {
 public:
  explicit ForwardHops(ForwardPaths paths) : paths_(std::move(paths)) {}
  // Must be called once, before the first frame. All outlive the object.
  void bind(Initiator& initiator, const Routes& routes, const Clock& clock) {
    initiator_ = &initiator;
    routes_ = &routes;
    clock_ = &clock;
  }

  [[nodiscard]] const ForwardPaths& paths() const { return paths_; }
  [[nodiscard]] std::uint64_t now_ns() const { return clock_->now_ns(); }

  // Sends a frame to `next`, its next process. The body's memory is free again afterwards.
  void post(const ForwardFrame& frame, std::uint32_t next, const portals::Region& body = {});
  // The same for a hint, which is lost if its wire is full.
  void post_hint(const ForwardFrame& frame, std::uint32_t next);
  // Takes back a transmission with kOwnerForward that has come off the list of finished ones.
  void finish(Transmission& transmission);
  // Frames that are queued, and the most that ever were at once.
  [[nodiscard]] std::size_t queued() const { return pool_.size() - free_.size(); }
  [[nodiscard]] std::size_t most_queued() const { return pool_.size(); }

  // Wire::nudge() and Wire::monitor() of the wire to the next process.
  void nudge(std::uint32_t next) { (*routes_)[next]->nudge(next); }
  void monitor(std::uint32_t next) { (*routes_)[next]->monitor(next); }

  // A process to or from which frames went.
  struct Neighbour {
    // It sent its bye, and gets no credits and nudges. Also set once it is lost.
    bool said_bye = false;
    // said_bye was set at least once.
    bool has_parted = false;
    void part() { said_bye = has_parted = true; }
  };
  [[nodiscard]] Neighbour& neighbour(std::uint32_t rank) { return neighbours_[rank]; }
  // By rank, so that runs with one seed are equal.
  [[nodiscard]] std::map<std::uint32_t, Neighbour>& neighbours() { return neighbours_; }

 private:
  // A queued frame.
  struct Pending {
    Transmission transmission;
    std::vector<std::byte> body;
  };

  ForwardPaths paths_;
  Initiator* initiator_ = nullptr;
  const Routes* routes_ = nullptr;
  const Clock* clock_ = nullptr;
  std::map<std::uint32_t, Neighbour> neighbours_;
  // The pool grows to the most frames that were ever queued at once. `free_` lists those that are not in use.
  std::vector<std::unique_ptr<Pending>> pool_;
  std::vector<Pending*> free_;
};

}  // namespace margay::sim
