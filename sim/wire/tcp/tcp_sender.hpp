// The sending side of one link: it turns messages into batches of bytes. Pure: a backend calls batch(), sends the
// bytes, and reports by sent() how many have left.
//
// Invariants
// 1. Frames leave in the order of try_put() and queue().
// 2. While one batch is being sent, frames gather for the next batch. So small messages coalesce, and a message on an
// idle link never waits.
// 3. A batch begins with copied bytes. At most one body, or segment of a body, follows, which leaves directly from the
// program's memory. The operating system may read this memory until the whole batch has left, so a transmission that
// ends with these bytes goes to the list of finished ones only then.
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
// frames. Frames are copied into one half while the other half is sent. Pages are allocated when they are touched.
inline constexpr std::size_t kSendBufferBytes = std::size_t{160} * 1024;
// Queued bodies up to this length are copied into the batch, which takes less than a microsecond at 10 GB/s. A body
// that is sent from its own memory ends the batch, and the system call for the next batch costs a microsecond.
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

  // Copies the whole message. false: other messages are queued, there is no room, or the body is longer than
  // kWholeBytes.
  [[nodiscard]] bool try_put(const portals::Header& header, const portals::Region& body);
  // As Wire::send() and Wire::stop(), for this link. queue() does not begin to send.
  void queue(Transmission& transmission);
  void stop(Transmission& transmission);
  // See Wire::replace().
  [[nodiscard]] bool replace(const Transmission& transmission, Transmission& instead);
  // Queues a goodbye behind everything that is queued. The stream may end there. A later message revokes the goodbye,
  // and another goodbye follows that message, unless go_on() was called.
  void send_goodbye() { leaving_ = true; }
  // Ends the effect of send_goodbye(): no goodbye follows later messages.
  void go_on() { leaving_ = false; }
  // Fails all queued transmissions. Requires: neither the backend nor the operating system reads the last batch any
  // more.
  void fail();

  // The bytes to send next, in at most kPiecesMax + 1 pieces; empty: there are none. The batch stays the same until
  // sent().
  [[nodiscard]] std::span<const iovec> batch();
  // Reports that the first `bytes` of the batch have left. The batch is now the remainder, and its pieces are
  // rewritten.
  void sent(std::size_t bytes);
  // Whether all messages have left, and a goodbye if one is due.
  [[nodiscard]] bool idle() const {
    return batch_bytes_ == 0 && gathered_bytes_ == 0 && queued_.empty() && !goodbye_due();
  }
  // Bytes in the gathering half, which the next batch will send.
  [[nodiscard]] std::size_t gathered_bytes() const { return gathered_bytes_; }
  // Number of messages that were queued or copied so far.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  [[nodiscard]] bool goodbye_due() const { return leaving_ && !goodbye_sent_; }
  [[nodiscard]] std::size_t room() const { return kSendBufferBytes - gathered_bytes_; }
  // The address of the next frame, in the gathering half.
  [[nodiscard]] std::byte* gather_at();
  void put_prefix(std::byte* frame, std::size_t head_bytes, std::uint64_t content_bytes, std::uint32_t crc);
  void put_message(const portals::Header& header, const portals::Region* body);
  // Appends a frame without content.
  void put_control(FrameType type, std::uint64_t argument);
  void count_message() {
    ++messages_;
    goodbye_sent_ = false;
  }
  // Adds queued messages to the gathered batch until it is full or ends with memory of the program. Adds a goodbye that
  // is due after the last message.
  void gather();
  // Each adds a part of the front transmission to the gathered batch. false: the batch is full, or ends here.
  [[nodiscard]] bool gather_front();
  [[nodiscard]] bool gather_segment(Transmission& front);
  void put_direct(Transmission& front, std::size_t head_bytes, std::uint64_t bytes);
  [[nodiscard]] static std::uint64_t direct_bytes(const portals::RegionCursor& cursor, std::uint64_t limit,
                                                  bool& scattered);
  // Moves the front transmission to the list of finished ones.
  void finish_front(Transmission::State state);

  // The wire's list of finished transmissions, which the kernel drains.
  TransmissionList& finished_;
  TransmissionList queued_;
  std::uint64_t messages_ = 0;
  // send_goodbye() was called, and go_on() has not been.
  bool leaving_ = false;
  // A goodbye has been gathered, and no message has been counted since.
  bool goodbye_sent_ = false;
  // The head of the front transmission has been gathered.
  bool front_started_ = false;

  std::array<std::unique_ptr<std::byte[]>, 2> halves_;
  // The half that gathers; the other one is being sent.
  std::size_t gathering_ = 0;
  std::size_t gathered_bytes_ = 0;
  // The content, directly from the program's memory, that ends the gathered batch.
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
