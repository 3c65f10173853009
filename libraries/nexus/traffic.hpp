// The messages of one context over portals: sends by the ways of the host, and the heaps in which requests, forwarded
// requests and control messages arrive. Each function requires that the thread is inside.
//
// If its wire cannot take a message at once, it is copied and queued in the kernel, which keeps the order per pair and
// way. The 12 bytes of user data, in the byte order of the machine:
//
//   byte 0  FrameKind    1 to 3  handler    4 to 7  epoch    8 to 11  origin; to a forwarder: the final context
//
// A request whose body is fetched has in its offset the body's number (20 bits), the way that carries the body (4) and
// its length (40).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libraries/nexus/library.hpp"
#include "libraries/nexus/module/module.hpp"
#include "libraries/parts/bodies.hpp"
#include "libraries/parts/memory.hpp"

namespace margay::nexus::core {

using parts::allocate, parts::Bodies, parts::BodyPlace, parts::Fetch, parts::kBodyNumberBits, parts::Memory;

// A heap at a portal.
class Heap {
 public:
  Heap(host::Rank& rank, portals::PortalIndex portal, std::size_t bytes)
      : rank_(rank), portal_(portal), memory_(allocate(bytes)), block_(portals::Buffer{memory_.get(), bytes}) {}
  ~Heap() {
    if (attached_) rank_.detach(portal_);
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  // Attaches `list`, whose entries lead to block(). A full heap exerts backpressure on its senders.
  [[nodiscard]] portals::Status attach(portals::MatchList& list, host::Observer& observer);
  [[nodiscard]] portals::DynamicBlock& block() { return block_; }
  // Takes the oldest complete message, which release() frees; nullptr: there is none. A message that is still arriving
  // does not hold back those of other senders.
  [[nodiscard]] portals::ArrivedMessage* take();
  void release(portals::ArrivedMessage& message) { block_.release(message); }
  [[nodiscard]] bool any() const { return block_.queued() != 0; }

 private:
  host::Rank& rank_;
  const portals::PortalIndex portal_;
  Memory memory_;
  portals::DynamicBlock block_;
  bool attached_ = false;
};

class Traffic final : private host::Observer {
 public:
  explicit Traffic(host::Rank& rank);
  // Attaches all portals. `requests`: the list of portal 32, to which endpoints add entries over requests().block().
  [[nodiscard]] portals::Status attach(portals::MatchList& list);

  // Sends a request or an order by a way. Copies the body if the wire does not take it at once.
  void send(std::uint32_t peer, std::uint8_t way, const Frame& frame, std::span<const Bytes> body);
  // Sends a control message.
  void send_control(std::uint32_t peer, Control kind, std::uint64_t number = 0, Bytes body = {});
  // The frame in a header of portal 32 or 36, with the place of a body that must be fetched. Fails for damage.
  [[nodiscard]] static portals::Status read(const portals::Header& header, Frame& out, BodyPlace& place);
  // Fetches a body, by the way of its request. nullptr: no memory.
  [[nodiscard]] Fetch* fetch(std::uint32_t peer, const BodyPlace& place, std::uint64_t bytes);

  // Frees completed sends.
  void sweep();
  // Bytes that wait for wires or to be fetched; whether there are none.
  [[nodiscard]] std::size_t held_bytes() const { return parcel_bytes_ + bodies.kept_bytes(); }
  [[nodiscard]] bool idle() const { return parcels_.empty() && bodies.idle(); }
  // Whether no message waits for its wire, and no body is on its way to this context.
  [[nodiscard]] bool is_sent() const { return parcels_.empty() && !bodies.is_fetching(); }
  // Whether something may have arrived since the last call.
  [[nodiscard]] bool take_activity() { return std::exchange(arrived_, false); }
  void mark_activity() { arrived_ = true; }

  Bodies bodies;
  Heap requests, forwarded, control;

 private:
  // A message and its body, at an address that does not change while the host refers to it.
  struct Parcel {
    host::Outgoing message;
    Memory memory;
    std::size_t bytes = 0;
  };
  void notify() override { arrived_ = true; }
  void send_bytes(const portals::Header& header, std::uint8_t way, std::span<const Bytes> body, std::size_t bytes);

  host::Rank& rank_;
  std::vector<std::unique_ptr<Parcel>> parcels_;
  std::size_t parcel_bytes_ = 0;
  portals::MatchEntry control_entry_, forward_entry_;
  // Declared after their entries.
  portals::MatchList control_list_, forward_list_;
  bool arrived_ = true;
};

// Copies the pieces of a body into `out`, which has their bytes.
void gather(std::span<const Bytes> pieces, std::byte* out);
[[nodiscard]] std::size_t total_bytes(std::span<const Bytes> pieces);

}  // namespace margay::nexus::core
