// The sending side of one link: messages in, batches of bytes out. Pure: a backend asks for the batch and reports how
// much of it left.
//
// Invariants
// 1. Frames leave in the order of try_put() and queue().
// 2. While one batch is being sent, frames gather for the next; so small messages coalesce and an idle link never
//    waits.
// 3. A batch has copied bytes first, and then at most one body, or segment of a body, that leaves directly from the
//    program's memory. This memory is read until the whole batch has left; only then does a transmission that ends with
//    these bytes go to the finished list.
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

// The size of each of the two halves of a link's send buffer: room for two of the longest whole frames and some short
// ones. Frames are copied into one half while the other one is sent. Pages are allocated when touched.
inline constexpr std::size_t kSendBufferBytes = std::size_t{160} * 1024;
// Queued bodies up to this are copied into the batch, which takes less than a microsecond at 10 GB/s. A body that is
// sent from its own memory ends the batch, and the system call for the next batch costs a microsecond.
inline constexpr std::size_t kGatherCopyBytes = std::size_t{8} * 1024;
// The most pieces of the program's memory in one batch. A body whose pieces are shorter than kPieceBytesMin on average
// is copied instead.
inline constexpr std::size_t kPiecesMax = 64;
inline constexpr std::size_t kPieceBytesMin = 512;
static_assert(kSendBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

// One link's sender. Allocates each half of its buffer at the first use. Used under the process lock.
class TcpSender {
 public:
  explicit TcpSender(TransmissionList& finished) : finished_(finished) {}
  TcpSender(const TcpSender&) = delete;
  TcpSender& operator=(const TcpSender&) = delete;

  // Copies the whole message. false: others are queued before it, there is no room, or it is longer than kWholeBytes.
  [[nodiscard]] bool try_put(const portals::Header& header, const portals::Region& body);
  // As Wire::send() and Wire::stop(), for this peer.
  void queue(Transmission& transmission);
  void stop(Transmission& transmission);
  // See Wire.
  [[nodiscard]] bool replace(const Transmission& transmission, Transmission& instead);
  // Queues a goodbye behind everything that is queued: the stream may end there. A message that is queued later revokes
  // it, and another goodbye follows that message, unless go_on() was called.
  void say_goodbye() { leaving_ = true; }
  // Ends the effect of say_goodbye(): no goodbye follows later messages.
  void go_on() { leaving_ = false; }
  // Fails everything queued. Requires: neither backend nor operating system reads the last batch any more.
  void fail();

  // The bytes to send next, in at most kPiecesMax + 1 pieces; empty: none. Stays the same until sent().
  [[nodiscard]] std::span<const iovec> batch();
  // Reports that the first `bytes` of the batch have left. The remainder is the batch now; its pieces are rewritten.
  void sent(std::size_t bytes);
  // Whether everything has left, including a goodbye that is due.
  [[nodiscard]] bool idle() const {
    return batch_bytes_ == 0 && gathered_bytes_ == 0 && queued_.empty() && !goodbye_due();
  }
  // Bytes in the gathering half, which the next batch will send.
  [[nodiscard]] std::size_t gathered_bytes() const { return gathered_bytes_; }
  // Messages queued or copied so far.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  [[nodiscard]] bool goodbye_due() const { return leaving_ && !goodbye_said_; }
  [[nodiscard]] std::size_t room() const { return kSendBufferBytes - gathered_bytes_; }
  // Where the next frame is written, in the gathering half.
  [[nodiscard]] std::byte* gather_at();
  void put_prefix(std::byte* frame, std::size_t head_bytes, std::uint64_t content_bytes, std::uint32_t crc);
  void put_message(const portals::Header& header, const portals::Region* body);
  // Appends a frame without content.
  void put_control(FrameType type, std::uint64_t argument);
  void count_message() {
    ++messages_;
    goodbye_said_ = false;
  }
  // Adds queued messages to the batch until it is full or ends with memory of the sender.
  void gather();
  // Each adds a part of the front transmission to the batch; false: the batch is full, or ends here.
  [[nodiscard]] bool gather_front();
  [[nodiscard]] bool gather_segment(Transmission& front);
  void put_direct(Transmission& front, std::size_t head_bytes, std::uint64_t bytes);
  [[nodiscard]] static std::uint64_t direct_bytes(const portals::RegionCursor& cursor, std::uint64_t limit,
                                                  bool& scattered);
  // Moves the front transmission to the finished list.
  void finish_front(Transmission::State state);

  // The wire's list, which the kernel drains.
  TransmissionList& finished_;
  TransmissionList queued_;
  std::uint64_t messages_ = 0;
  // say_goodbye() was called, and go_on() has not been.
  bool leaving_ = false;
  // A goodbye has been gathered, and no message has been queued since.
  bool goodbye_said_ = false;
  // The front's head has been gathered.
  bool front_started_ = false;

  std::array<std::unique_ptr<std::byte[]>, 2> halves_;
  // The half that gathers; the other one is being sent.
  std::size_t gathering_ = 0;
  std::size_t gathered_bytes_ = 0;
  // The content, directly from memory, that ends the gathered batch.
  portals::RegionCursor direct_;
  std::uint64_t direct_length_ = 0;
  bool direct_ends_front_ = false;
  // The batch that is being sent.
  std::array<iovec, kPiecesMax + 1> pieces_{};
  std::size_t first_piece_ = 0;
  std::size_t piece_count_ = 0;
  std::size_t batch_bytes_ = 0;
  bool batch_ends_front_ = false;
};

}  // namespace margay::sim
