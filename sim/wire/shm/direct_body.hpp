// The transfer of a body that lies in one piece, from memory to memory, without a ring: the receiver reads it, and the
// sender writes parts of it. sim/shm/shared_body.hpp divides the work. process_memory.hpp transfers bodies and landings
// in several pieces.
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

  // Begins to transfer the body of offer `number`, at `address` in the sender's memory, into `landing`. From here on
  // the sender may write parts. `help_expected`: the sender will probably do so.
  void begin(std::uint64_t number, std::uint64_t address, std::span<std::byte> landing, bool help_expected);
  // Copies chunks until about `budget` bytes are copied, or no chunk is left to claim. `moved`: the bytes copied.
  // `now_ns`: the present time, by the same clock in all calls.
  [[nodiscard]] ReadFault step(std::uint64_t budget, std::uint64_t now_ns, std::uint64_t& moved);
  // Whether the whole body is in the landing, including the sender's part.
  [[nodiscard]] bool finished() const { return finished_; }
  // Bytes of the body that this side read; the sender wrote the remainder.
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }
  // Ends the transfer, because another method carries the body or the channel has ended. The sender may still be
  // writing one chunk; it finishes this chunk before it publishes anything else.
  void give_up() {
    if (chunks_.count() > 1) shared_.close();
  }

 private:
  // Reads `count` chunks from `chunk` on.
  [[nodiscard]] ReadFault read(std::uint64_t chunk, std::uint64_t count, std::uint64_t now_ns);
  // After the last chunk has been claimed: tests whether the sender has written its chunks, and reads a chunk that the
  // sender could not write.
  [[nodiscard]] ReadFault look_at_rest(std::uint64_t now_ns);

  // The claims to the chunks of the body in progress.
  SharedBodyReceiver shared_;
  const RankArea* sender_;
  // The body's address at the sender; never dereferenced here.
  std::uint64_t address_ = 0;
  // The destination of the body. The memory must not move before finished() or give_up().
  std::span<std::byte> landing_;
  // The division of the body in progress into chunks.
  BodyChunks chunks_{1};
  // The last proof of the sender's identity.
  ProofTime proof_;
  // See read_bytes(); for the body in progress.
  std::uint64_t read_bytes_ = 0;
  bool help_expected_ = false;
  bool finished_ = true;
};

// The sender's side of one channel.
class DirectWriter {
 public:
  DirectWriter(ChannelData& channel, const RankArea& receiver, const Clock& clock)
      : shared_(channel.shared, channel.producer, channel.consumer), receiver_(&receiver), clock_(&clock) {}

  // Writes one chunk of the body of offer `number`, if the receiver permits that and a chunk is left. Returns whether
  // it claimed a chunk. Requires: the offer stands.
  bool help(std::uint64_t number, std::span<const std::byte> body);

 private:
  SharedBodySender shared_;
  const RankArea* receiver_;
  // Measures the age of the last proof.
  const Clock* clock_;
  ProofTime proof_;
  // No write to the receiver's memory has failed yet.
  bool works_ = true;
};

}  // namespace margay::sim
