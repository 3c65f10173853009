// The receiving side of one link: bytes in, arrivals out. Pure: a backend asks for the places of the next bytes, reads
// them there, and reports their number.
//
// Invariants
// 1. Bytes of an accepted body go directly to its landing memory, except those that were already read ahead.
// 2. Nothing is used as a length before the prefix's checksum has been compared, and nothing takes effect before the
//    frame's checksum has been; content of segments is stored first and compared when the segment is complete.
// 3. After a body, a read ahead is short, so that a stream of long messages is hardly ever copied.
// 4. The one buffer bounds the bytes that a peer can make this rank keep: a full one is not read into, and TCP's window
//    is the backpressure on the peer.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "portals/base/region.hpp"
#include "sim/wire/tcp/tcp_frame.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// The buffer for read ahead: room for three of the longest whole frames.
inline constexpr std::size_t kReceiveBufferBytes = std::size_t{256} * 1024;
// The read ahead after a long body: enough for some short frames, and so little that hardly any of the next long body
// is copied twice.
inline constexpr std::size_t kReadAheadAfterBodyBytes = std::size_t{4} * 1024;
// Pieces of one read.
inline constexpr std::size_t kTargetsMax = 16;
// Landings that begin with a shorter piece are filled through the buffer.
inline constexpr std::size_t kLandingPieceBytesMin = 512;
static_assert(kReceiveBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

// Allocates its buffer with the first bytes. Used under the process lock.
class TcpReceiver {
 public:
  // Arrivals carry `peer`, and their headers `source` and `destination`.
  TcpReceiver(std::uint32_t peer, portals::ProcessId source, portals::ProcessId destination);
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  // The places of the next bytes, in order. Returns the number of `pieces` (kTargetsMax) that it filled; 0: no room
  // before arrivals are taken. The memory stays valid until commit() or end().
  [[nodiscard]] std::size_t targets(std::span<iovec> pieces);
  // Whether targets() is limited to bytes that surely belong together: while a body is arriving, and just after one.
  [[nodiscard]] bool wants_exact() const { return body_ != Body::none || short_read_; }
  // Reports that the first `bytes` of targets() are filled, read from the socket or `copied` out of a buffer of the
  // backend. Requires: no targets() in between.
  void commit(std::size_t bytes, bool copied = false);
  // Reports the end of the stream; `why` is the end of a sentence, empty for an orderly end of stream.
  void end(std::string why);
  // Records why sending failed. Bytes that arrived before are still taken, and the end, when it comes, is reported with
  // this reason.
  void suspect(std::string why) {
    if (loss_.empty()) loss_ = std::move(why);
  }

  // Turns an orderly end into a loss, because messages were queued for the peer.
  void miss(std::string why);

  // The next arrival: whole, started, finished, cut or lost; false: more bytes are needed. A whole or started is
  // returned again until it is answered. After lost (or an orderly end) there is none.
  [[nodiscard]] bool next(Arrival& arrival);
  // The answers to next(); see Wire.
  void consume();
  void accept(const portals::Region& landing, void* cookie);
  void refuse();
  void hold();

  // For traces, about the last message reported whole or finished: bytes of its body that were copied out of buffers;
  // and, for a whole one, whether the backend had copied some of its frame into this buffer before.
  [[nodiscard]] std::uint64_t copied_bytes() const { return copied_bytes_; }
  [[nodiscard]] bool copied_twice() const { return copied_twice_; }

  // Whether no more bytes are read.
  [[nodiscard]] bool ended() const { return ended_; }
  // Whether the peer said goodbye and everything that it sent has been taken.
  [[nodiscard]] bool left() const { return goodbye_; }
  // Whether a body is arriving.
  [[nodiscard]] bool receiving() const { return body_ != Body::none; }

 private:
  // The destination of the arriving body.
  enum class Body : std::uint8_t { none, landing, discard };
  enum class Step : std::uint8_t { need_bytes, again, arrival };

  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] std::byte* front() { return buffer_.get() + begin_; }
  // Moves buffered bytes to the front when the buffer's end is near.
  void make_room();
  // Whether the segment is read directly into the landing, and not through the buffer.
  [[nodiscard]] bool lands_in_long_pieces() const;
  // The segment's places in the landing, then the bytes that follow it.
  [[nodiscard]] std::size_t landing_targets(std::span<iovec> pieces);
  // Counts bytes that were read into the landing, and adds them to the checksum.
  void commit_landed(std::size_t bytes);
  // Copies the part of a segment that was read ahead.
  void take_buffered_content();

  // One step of next(): it needs bytes, may be called again at once, or has filled in `arrival`.
  [[nodiscard]] Step step(Arrival& arrival);
  [[nodiscard]] Step step_frame(Arrival& arrival);
  [[nodiscard]] Step step_segment(const FramePrefix& prefix, const DecodedHead& head);
  [[nodiscard]] Step step_message(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  [[nodiscard]] Step step_control(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  // Compares the segment's checksum, and ends the body after its last segment.
  [[nodiscard]] Step finish_segment(Arrival& arrival);
  // The end of the stream: first the cut of an unfinished body, then the loss.
  [[nodiscard]] bool finish_stream(Arrival& arrival);
  void start_body(Body body);
  void end_body(Arrival& arrival, Arrival::Kind kind);
  // Ends the stream because of the peer's bytes; `why` is static.
  Step malformed(std::string_view why);

  // Constant after construction.
  const std::uint32_t peer_;
  const portals::ProcessId source_;
  const portals::ProcessId destination_;
  // Read ahead: [begin_, end_) of the buffer. Allocated with the first bytes.
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  // Bytes of the frame of the last arrival, until it is answered.
  std::size_t offered_bytes_ = 0;
  // Bytes of the front frame, once its checksum has been compared.
  std::size_t checked_bytes_ = 0;
  // Messages that were answered, in this direction of the pair.
  std::uint64_t messages_ = 0;
  // End of the bytes that the backend copied into the buffer last; 0: they have been taken.
  std::size_t backends_end_ = 0;
  std::uint64_t copied_bytes_ = 0;
  bool copied_twice_ = false;
  // The arriving body.
  Body body_ = Body::none;
  // A body has just ended.
  bool short_read_ = false;
  portals::RegionCursor landing_;
  // targets() began with landing memory.
  bool direct_ = false;
  void* cookie_ = nullptr;
  std::uint64_t body_length_ = 0;
  // Bytes of the body that no segment has announced yet.
  std::uint64_t body_left_ = 0;
  std::uint64_t segment_left_ = 0;
  bool in_segment_ = false;
  // Checksum of the segment's bytes so far.
  std::uint32_t segment_crc_ = 0;
  // Checksum of the whole segment, from its prefix.
  std::uint32_t segment_want_ = 0;
  // The end of the stream, down to `loss_`. ended_: no more bytes are read.
  bool ended_ = false;
  // The last frame was a goodbye: an end of the stream is orderly.
  bool goodbye_ = false;
  // The end of the stream has been reported.
  bool delivered_ = false;
  std::string loss_;
};

}  // namespace margay::sim
