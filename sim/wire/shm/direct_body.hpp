// A body in one piece that goes from memory to memory without a ring: read by the receiver and, in parts, written by
// the sender (sim/shm/shared_body.hpp says who carries what). Bodies and landings in several pieces:
// process_memory.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/clock.hpp"
#include "sim/shm/shared_body.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// The receiver's side.
class DirectReader {
 public:
  DirectReader(ChannelData& channel, const RankArea& sender)
      : shared_(channel.shared, channel.consumer, channel.producer), sender_(&sender) {}

  // The body of offer `number`, which lies at `address`, goes to `landing`. The sender may take part from here on;
  // `help_expected`: it likely will.
  void begin(std::uint64_t number, std::uint64_t address, std::span<std::byte> landing, bool help_expected);
  // `now_ns`: on the clock that all calls use. Carries chunks until about `budget` bytes are `moved`, or none is left
  // to claim.
  [[nodiscard]] ReadFault step(std::uint64_t budget, std::uint64_t now_ns, std::uint64_t& moved);
  // All is in place, the sender's part too.
  [[nodiscard]] bool finished() const { return finished_; }
  // What this side read of it; the remainder the sender wrote.
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }
  // The body takes another way, or none. The sender may still end the one chunk that it is at; what it says next comes
  // after that.
  void give_up() {
    if (chunks_.count() > 1) shared_.close();
  }

 private:
  [[nodiscard]] ReadFault read(std::uint64_t chunk, std::uint64_t count, std::uint64_t now_ns);
  [[nodiscard]] ReadFault look_at_rest(std::uint64_t now_ns);

  SharedBodyReceiver shared_;
  const RankArea* sender_;
  std::uint64_t address_ = 0;
  std::span<std::byte> landing_;
  BodyChunks chunks_{1};
  ProofTime proof_;
  std::uint64_t read_bytes_ = 0;
  bool help_expected_ = false;
  bool finished_ = true;
};

// The sender's side.
class DirectWriter {
 public:
  DirectWriter(ChannelData& channel, const RankArea& receiver, const Clock& clock)
      : shared_(channel.shared, channel.producer, channel.consumer), receiver_(&receiver), clock_(&clock) {}

  // Carries one chunk of the offered body, if the receiver wants that and one is left. Returns whether it did.
  // Requires: offer `number` stands.
  bool help(std::uint64_t number, std::span<const std::byte> body);

 private:
  SharedBodySender shared_;
  const RankArea* receiver_;
  const Clock* clock_;
  ProofTime proof_;
  bool works_ = true;
};

}  // namespace margay::sim
