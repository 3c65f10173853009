// The wire from a process to itself. Small messages are copied into a bounded queue; others stay in the sender's memory
// and arrive whole from there, however long they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/wire/wire.hpp"

namespace margay::sim {

// Messages that lie copied at once, of so many bytes at most: 64 KiB for each rank that writes to itself. What finds no
// slot, or is longer, waits in the sender's memory, so neither is a limit.
inline constexpr std::size_t kSelfSlots = 64;
inline constexpr std::size_t kSelfCopyBytes = 1024;

class SelfWire final : public Wire {
 public:
  // `finished` outlives the wire. Memory for copies is taken at the first try_send().
  SelfWire(portals::ProcessId me, TransmissionList& finished) : Wire(WireId::self), me_(me), finished_(finished) {
    quiet_ = true;
  }

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  // No effect: a body that is wanted or not is never under way here.
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override;
  void hold() override;
  void accept(const portals::Region& landing, void* cookie) override;  // never asked for
  void refuse() override;                                              // never asked for
  [[nodiscard]] BodyTold body_came() const override { return {was_copy_ ? TraceBody::slot : TraceBody::straight}; }
  [[nodiscard]] TraceBody body_taken() const override { return TraceBody::slot; }
  [[nodiscard]] bool idle() const override { return copied_ == 0 && queue_.empty(); }

 private:
  struct Slot {
    portals::Header header;
    std::array<std::byte, kSelfCopyBytes> body;
  };
  using Slots = std::array<Slot, kSelfSlots>;

  void tell(const portals::Header& header, const portals::Region& body, Arrival& arrival);

  portals::ProcessId me_;
  TransmissionList& finished_;
  std::unique_ptr<Slots> slots_;
  std::size_t first_ = 0;   // slot of the oldest copy
  std::size_t copied_ = 0;  // copies that wait; all of them came before all of queue_
  TransmissionList queue_;
  std::uint64_t sequence_ = 0;  // of the last consumed message
  bool was_copy_ = false;       // that one
  bool offered_ = false;
  bool held_ = false;
};

}  // namespace margay::sim
