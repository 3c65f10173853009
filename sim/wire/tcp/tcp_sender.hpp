// What one rank has to send to one peer, as batches of bytes that leave together. Pure: a backend asks for the batch
// and says how much of it left.
//
// Invariants
// 1. Frames leave in the order of try_put() and queue().
// 2. While one batch is leaving, frames gather for the next; so small messages coalesce and an idle link never waits.
// 3. A batch is copied bytes, then at most one content straight from the sender's memory. That memory is free, and its
//    transmission on the finished list, only when the whole batch has left.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/wire/tcp/tcp_frame.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// Each of the two halves of a link's send buffer: two of the longest whole frames, so that one may be copied in while
// another leaves, and room for short ones between. Pages come when touched.
inline constexpr std::size_t kSendBufferBytes = std::size_t{160} * 1024;
// Queued bodies up to this are copied into the batch: at 10 GB/s less than the microsecond that the end of a batch, and
// a system call for the next one, cost. Longer ones leave from where they lie.
inline constexpr std::size_t kGatherCopyBytes = std::size_t{8} * 1024;
// Pieces of user memory in one batch; a body in smaller pieces than kPieceBytesMin is copied instead.
inline constexpr std::size_t kPiecesMax = 64;
inline constexpr std::size_t kPieceBytesMin = 512;
static_assert(kSendBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

class TcpSender {
 public:
  explicit TcpSender(TransmissionList& finished) : finished_(finished) {}
  TcpSender(const TcpSender&) = delete;
  TcpSender& operator=(const TcpSender&) = delete;

  // Copies the whole message; false: queued ones are before it, there is no room, or it is longer than kWholeBytes.
  [[nodiscard]] bool try_put(const portals::Header& header, const portals::Region& body);
  void queue(Transmission& transmission);
  void stop(Transmission& transmission);
  // See Wire.
  [[nodiscard]] bool replace(const Transmission& transmission, Transmission& instead);
  // Behind everything queued: the stream may end here. A message takes that back, and a goodbye follows it again, until
  // go_on().
  void say_goodbye() { leaving_ = true; }
  void go_on() { leaving_ = false; }
  // Everything queued ends with state failed. Requires: nothing outside still reads the last batch.
  void fail();

  // What is to leave next, pieces at most kPiecesMax + 1; empty: nothing. Stays the same until sent().
  [[nodiscard]] std::span<const iovec> batch();
  // `bytes` of the batch's front have left. The remainder is the batch now, its pieces are rewritten.
  void sent(std::size_t bytes);
  [[nodiscard]] bool idle() const {
    return batch_bytes_ == 0 && gathered_bytes_ == 0 && queued_.empty() && !goodbye_due();
  }
  // Copied, and not in the batch that is leaving.
  [[nodiscard]] std::size_t gathered_bytes() const { return gathered_bytes_; }
  // Messages given so far.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  [[nodiscard]] bool goodbye_due() const { return leaving_ && !goodbye_said_; }
  [[nodiscard]] std::size_t room() const { return kSendBufferBytes - gathered_bytes_; }
  [[nodiscard]] std::byte* gather_at();
  void put_prefix(std::byte* frame, std::size_t head_bytes, std::uint64_t content_bytes, std::uint32_t crc);
  void put_message(const portals::Header& header, const portals::Region* body);
  void put_control(FrameType type, std::uint64_t argument);
  void count_message() {
    ++messages_;
    goodbye_said_ = false;
  }
  void gather();
  // Each takes one step on the front transmission; false: the batch is full, or ends here.
  [[nodiscard]] bool gather_front();
  [[nodiscard]] bool gather_segment(Transmission& front);
  void put_direct(Transmission& front, std::size_t head_bytes, std::uint64_t bytes);
  [[nodiscard]] static std::uint64_t direct_bytes(const portals::RegionCursor& cursor, std::uint64_t limit,
                                                  bool& scattered);
  void finish_front(Transmission::State state);

  TransmissionList& finished_;
  TransmissionList queued_;
  std::uint64_t messages_ = 0;
  bool leaving_ = false;
  bool goodbye_said_ = false;   // and nothing since
  bool front_started_ = false;  // the front's head has been gathered

  std::array<std::unique_ptr<std::byte[]>, 2> halves_;
  std::size_t gathering_ = 0;  // the half that gathers; the other one leaves
  std::size_t gathered_bytes_ = 0;
  // The content straight from memory that ends the gathered batch.
  portals::RegionCursor direct_;
  std::uint64_t direct_length_ = 0;
  bool direct_ends_front_ = false;
  // The batch that is leaving.
  std::array<iovec, kPiecesMax + 1> pieces_{};
  std::size_t first_piece_ = 0;
  std::size_t piece_count_ = 0;
  std::size_t batch_bytes_ = 0;
  bool batch_ends_front_ = false;
};

}  // namespace margay::sim
