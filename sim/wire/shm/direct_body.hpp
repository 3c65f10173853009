// A body in one piece that is copied from memory to memory without a ring: the receiver reads it, and the sender writes
// parts of it (sim/shm/shared_body.hpp has the division of work). For bodies or landings in several pieces see
// process_memory.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/clock.hpp"
#include "sim/shm/shared_body.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// The receiver's side of one channel; one body at a time.
class DirectReader {
 public:
  DirectReader(ChannelData& channel, const RankArea& sender)
      : shared_(channel.shared, channel.consumer, channel.producer), sender_(&sender) {}

  // Begins the body of offer `number`, at `address` in the sender's memory, into `landing`. The sender may write parts
  // from here on. `help_expected`: it probably will.
  void begin(std::uint64_t number, std::uint64_t address, std::span<std::byte> landing, bool help_expected);
  // Copies chunks until about `budget` bytes are `moved`, or none is left to claim. `now_ns` is the present time, by
  // the same clock in all calls.
  [[nodiscard]] ReadFault step(std::uint64_t budget, std::uint64_t now_ns, std::uint64_t& moved);
  // Whether the whole body is in place, the sender's part too.
  [[nodiscard]] bool finished() const { return finished_; }
  // Bytes that this side read; the sender wrote the remainder.
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }
  // Ends the transfer, because another method carries the body or the channel has ended. The sender may still finish
  // the one chunk that it is writing, but before it publishes anything else.
  void give_up() {
    if (chunks_.count() > 1) shared_.close();
  }

 private:
  // Reads `count` chunks from `chunk` on.
  [[nodiscard]] ReadFault read(std::uint64_t chunk, std::uint64_t count, std::uint64_t now_ns);
  // Tests whether the sender has written its chunks, after the last one has been claimed; reads a chunk that it could
  // not write.
  [[nodiscard]] ReadFault look_at_rest(std::uint64_t now_ns);

  // The claims to the chunks of the body in progress.
  SharedBodyReceiver shared_;
  const RankArea* sender_;
  // The body's address at the sender; never dereferenced here.
  std::uint64_t address_ = 0;
  // Where the body goes; it must not move before finished() or give_up().
  std::span<std::byte> landing_;
  // The division of the body in progress.
  BodyChunks chunks_{1};
  // The last proof of the sender's identity.
  ProofTime proof_;
  // Of the body in progress; see read_bytes().
  std::uint64_t read_bytes_ = 0;
  bool help_expected_ = false;
  bool finished_ = true;
};

// The sender's side of one channel.
class DirectWriter {
 public:
  DirectWriter(ChannelData& channel, const RankArea& receiver, const Clock& clock)
      : shared_(channel.shared, channel.producer, channel.consumer), receiver_(&receiver), clock_(&clock) {}

  // Writes one chunk of the offered body, if the receiver permits that and one is left. Returns whether it did.
  // Requires: offer `number` stands.
  bool help(std::uint64_t number, std::span<const std::byte> body);

 private:
  SharedBodySender shared_;
  const RankArea* receiver_;
  // Dates the proofs.
  const Clock* clock_;
  ProofTime proof_;
  // Writing to the receiver's memory has not failed yet.
  bool works_ = true;
};

}  // namespace margay::sim
