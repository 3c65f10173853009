// The wire from a process to itself. Small messages are copied into a bounded queue. Other messages stay in the
// sender's memory, and arrive whole from there, whatever their length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/wire/wire.hpp"

namespace margay::sim {

// The most copies in the queue, and the longest body of a copy: 64 KiB of bodies for each rank that sends to itself. A
// message that finds no slot, or has a longer body, waits in the sender's memory.
inline constexpr std::size_t kSelfSlots = 64;
inline constexpr std::size_t kSelfCopyBytes = 1024;

// The self wire of one process. All arrivals are whole, so accept() and refuse() are never called. No other process is
// involved, so nothing here needs memory orders or a bell.
class SelfWire final : public Wire {
 public:
  // Requires: `finished` outlives the wire. Memory for copies is allocated at the first try_send().
  SelfWire(portals::ProcessId me, TransmissionList& finished) : Wire(WireId::self), me_(me), finished_(finished) {
    quiet_ = true;
  }

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  // Only sets stop_asked. This wire sends no body in parts, so there is no remainder to stop, and the message arrives.
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override;
  void hold() override;
  void accept(const portals::Region& landing, void* cookie) override;
  void refuse() override;
  [[nodiscard]] BodyReport body_report() const override { return {was_copy_ ? TraceBody::slot : TraceBody::straight}; }
  [[nodiscard]] TraceBody body_taken() const override { return TraceBody::slot; }
  [[nodiscard]] bool idle() const override { return copied_ == 0 && queue_.empty(); }

 private:
  // A copied message.
  struct Slot {
    portals::Header header;
    // The first header.length bytes are valid.
    std::array<std::byte, kSelfCopyBytes> body;
  };
  using Slots = std::array<Slot, kSelfSlots>;

  // Fills in an arrival, and marks it as offered.
  void fill(const portals::Header& header, const portals::Region& body, Arrival& arrival);

  // The source and the destination of every message.
  portals::ProcessId me_;
  TransmissionList& finished_;
  // A ring of copies. nullptr before the first copy, so a rank that never sends to itself takes no memory.
  std::unique_ptr<Slots> slots_;
  // Index of the oldest copy's slot.
  std::size_t first_ = 0;
  // Number of copies that wait. All copies are older than every message in queue_.
  std::size_t copied_ = 0;
  // Messages that stay in the sender's memory.
  TransmissionList queue_;
  // Number of the last consumed message.
  std::uint64_t sequence_ = 0;
  // Whether the last consumed message was a copy.
  bool was_copy_ = false;
  // poll() has returned a message that has not been answered yet.
  bool offered_ = false;
  // The first message is held until the next push().
  bool held_ = false;
};

}  // namespace margay::sim
