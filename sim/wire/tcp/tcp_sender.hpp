// The sending side of one link: messages in, batches of bytes out. Pure: a backend asks for the batch and reports how
// much of it left.
//
// Invariants
// 1. Frames leave in the order of try_put() and queue().
// 2. While one batch is being sent, frames gather for the next; so small messages coalesce and an idle link never
//    waits.
// 3. A batch has copied bytes first, and then at most one body, or segment of a body, that leaves directly from the
//    sender's memory. That memory is free, and its transmission on the finished list, only when the whole batch has
//    left.
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
// another leaves, with room for short ones. Pages are allocated when touched.
inline constexpr std::size_t kSendBufferBytes = std::size_t{160} * 1024;
// Queued bodies up to this are copied into the batch: at 10 GB/s that is less than the microsecond that the end of a
// batch and a system call for the next one cost. Longer ones are sent from their memory.
inline constexpr std::size_t kGatherCopyBytes = std::size_t{8} * 1024;
// Pieces of user memory in one batch. A body in smaller pieces than kPieceBytesMin is copied instead.
inline constexpr std::size_t kPiecesMax = 64;
inline constexpr std::size_t kPieceBytesMin = 512;
static_assert(kSendBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

// Allocates each half at its first use. Used under the process lock.
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
  // Queues a goodbye behind everything: the stream may end there. A later message revokes it, and another goodbye
  // follows that message, until go_on().
  void say_goodbye() { leaving_ = true; }
  // Ends that: no goodbye follows later messages.
  void go_on() { leaving_ = false; }
  // Fails everything queued. Requires: nothing outside still reads the last batch.
  void fail();

  // The bytes to send next, in at most kPiecesMax + 1 pieces; empty: none. Stays the same until sent().
  [[nodiscard]] std::span<const iovec> batch();
  // Reports that the first `bytes` of the batch have left. The remainder is the batch now; its pieces are rewritten.
  void sent(std::size_t bytes);
  // Whether everything has left, a goodbye that is due included.
  [[nodiscard]] bool idle() const {
    return batch_bytes_ == 0 && gathered_bytes_ == 0 && queued_.empty() && !goodbye_due();
  }
  // Bytes copied, and not in the batch that is being sent.
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
  // A goodbye is queued, and nothing behind it.
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
