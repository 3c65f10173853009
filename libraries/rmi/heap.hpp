// A portal whose messages queue in a heap until the node takes them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libraries/rmi/wire.hpp"
#include "margay/host.hpp"

namespace margay::rmi::core {

class Heap {
 public:
  // Requires: inside. `bytes`: the most that can be in it at once. First fit may leave holes between messages of
  // different sizes, so the heap has twice as much; pages that are never used cost nothing.
  Heap(host::Rank& rank, portals::PortalIndex portal, std::size_t bytes)
      : rank_(rank), portal_(portal), bytes_((2 * bytes + 65535) / 4096 * 4096), memory_(allocate(bytes_)) {
    list_.append(entry_);
  }
  ~Heap() {
    if (attached_) rank_.detach(portal_);
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Attaches it to its portal. Room does not run out, because each node's messages are bounded; a damaged job is held
  // back instead of losing messages.
  [[nodiscard]] portals::Status attach() {
    portals::Status status = rank_.attach(portal_, list_);
    if (!status.ok()) return status;
    attached_ = true;
    rank_.hold_when_no_room(portal_);
    return status;
  }

  // The oldest message if all of it is there, otherwise nullptr. It stays in the heap until release().
  [[nodiscard]] portals::ArrivedMessage* take() {
    // Each round of a wait comes here, mostly in vain: one comparison. The block counts complete messages.
    if (block_.messages() == taken_) [[likely]]
      return nullptr;
    portals::ArrivedMessage* const first = block_.first();
    if (first == nullptr || !first->complete) return nullptr;
    ++taken_;
    block_.unlink(*first);
    return first;
  }
  void release(portals::ArrivedMessage& message) { block_.release(message); }
  // Whether there may be a message to take.
  [[nodiscard]] bool any() const { return block_.messages() != taken_; }

 private:
  host::Rank& rank_;
  portals::PortalIndex portal_;
  std::size_t bytes_;
  Memory memory_;
  portals::DynamicBlock block_{portals::Buffer{memory_.get(), bytes_}};
  portals::MatchEntry entry_{{.ignore_bits = ~portals::MatchBits{0}}, block_, {}};
  // Declared after its entry, which leaves it when it ends.
  portals::MatchList list_;
  bool attached_ = false;
  std::uint64_t taken_ = 0;  // messages
};

}  // namespace margay::rmi::core
