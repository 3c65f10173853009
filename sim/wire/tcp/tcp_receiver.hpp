// The receiving side of one link: it turns bytes into arrivals. Pure: a backend calls targets() for the places of the
// next bytes, reads the bytes to these places, and reports their number by commit().
//
// Invariants
// 1. Bytes of an accepted body go directly to its landing memory, except bytes that were read ahead, and landings in
// small pieces.
// 2. A length is used only after the prefix's checksum has been compared, and a frame takes effect only after the
// frame's checksum has been compared. The content of segments is an exception: it is stored first, and the checksum is
// compared when the segment is complete.
// 3. After a long body, the read ahead is short, so that bodies of a stream of long messages are hardly ever copied.
// 4. The buffer bounds the bytes that a peer can make this rank keep. When the buffer is full, the link is not read,
// and TCP's window is the backpressure on the peer.
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

// The size of the buffer for read ahead: room for three of the longest whole frames.
inline constexpr std::size_t kReceiveBufferBytes = std::size_t{256} * 1024;
// The length of the read ahead after a long body: enough for some short frames, and so little that hardly any bytes of
// the next long body are copied.
inline constexpr std::size_t kReadAheadAfterBodyBytes = std::size_t{4} * 1024;
// The most pieces of memory for one read.
inline constexpr std::size_t kTargetsMax = 16;
// Landings that begin with a shorter piece are filled through the buffer.
inline constexpr std::size_t kLandingPieceBytesMin = 512;
static_assert(kReceiveBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

// One link's receiver. Allocates its buffer with the first bytes. Used under the process lock.
class TcpReceiver {
 public:
  // `peer` goes into every arrival, and `source` and `destination` into every header.
  TcpReceiver(std::uint32_t peer, portals::ProcessId source, portals::ProcessId destination);
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  // Fills in the places of the next bytes, in order. `pieces` has kTargetsMax elements; returns the number that it
  // filled. 0: there is no room before arrivals are taken. The memory stays valid until commit() or end().
  [[nodiscard]] std::size_t targets(std::span<iovec> pieces);
  // Whether targets() limits the next read: true while a body is arriving, and directly after a body.
  [[nodiscard]] bool needs_exact() const { return body_ != Body::none || short_read_; }
  // Reports that the first `bytes` of the last targets() are filled. `copied`: they were copied out of a buffer of the
  // backend; otherwise they were read from the socket.
  void commit(std::size_t bytes, bool copied = false);
  // Reports the end of the stream; `why` is the end of a sentence, empty for an orderly end of stream.
  void end(std::string why);
  // Records why sending failed. Bytes that arrived before are still taken. The end of the stream will be reported with
  // this reason.
  void suspect(std::string why) {
    if (loss_.empty()) loss_ = std::move(why);
  }

  // Turns an orderly end into a loss with reason `why`, because messages were queued for the peer.
  void miss(std::string why);

  // Fills in the next arrival: whole, started, finished, cut or lost. false: more bytes are needed. After hold(), the
  // same message is returned again. After lost, or after an orderly end, there is no arrival.
  [[nodiscard]] bool next(Arrival& arrival);
  // The answers to next(); see Wire.
  void consume();
  void accept(const portals::Region& landing, void* cookie);
  void refuse();
  void hold();

  // For traces, about the last message that was reported as whole or finished. copied_bytes(): the bytes of its body
  // that were copied out of buffers. copied_twice(): whether bytes of it were copied out of this buffer after the
  // backend had copied them into it.
  [[nodiscard]] std::uint64_t copied_bytes() const { return copied_bytes_; }
  [[nodiscard]] bool copied_twice() const { return copied_twice_; }

  // Whether the stream has ended, so that no more bytes are read.
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
  // Whether the segment can be read directly into the landing, without the buffer.
  [[nodiscard]] bool lands_in_long_pieces() const;
  // Fills in the segment's places in the landing, and then a place in the buffer for the bytes after the segment.
  [[nodiscard]] std::size_t landing_targets(std::span<iovec> pieces);
  // Counts `bytes` of the segment that are in the landing now, and adds them to the checksum.
  void commit_landed(std::size_t bytes);
  // Copies the part of a segment that was read ahead to the landing.
  void take_buffered_content();

  // One step of next(). need_bytes: it needs more bytes. again: it is to be called again. arrival: it has filled in
  // `arrival`.
  [[nodiscard]] Step step(Arrival& arrival);
  [[nodiscard]] Step step_frame(Arrival& arrival);
  [[nodiscard]] Step step_segment(const FramePrefix& prefix, const DecodedHead& head);
  [[nodiscard]] Step step_message(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  [[nodiscard]] Step step_control(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  // Compares the segment's checksum, and ends the body after its last segment.
  [[nodiscard]] Step finish_segment(Arrival& arrival);
  // Reports the end of the stream: first the cut of an unfinished body, then the loss.
  [[nodiscard]] bool finish_stream(Arrival& arrival);
  // start_body() consumes a message and begins its body. end_body() ends the body, with the event `kind`.
  void start_body(Body body);
  void end_body(Arrival& arrival, Arrival::Kind kind);
  // Ends the stream, because the peer's bytes are malformed. `why` is static.
  Step malformed(std::string_view why);

  // Constant after construction.
  const std::uint32_t peer_;
  const portals::ProcessId source_;
  const portals::ProcessId destination_;
  // The buffer for read ahead; allocated with the first bytes. The bytes in [begin_, end_) have not been taken.
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  // The length of the frame of the last whole or started arrival, until it is answered.
  std::size_t offered_bytes_ = 0;
  // The length of the front frame, once its checksum has been compared; 0 before.
  std::size_t checked_bytes_ = 0;
  // Messages that were answered, in this direction of the pair.
  std::uint64_t messages_ = 0;
  // The end of the bytes that the backend copied into the buffer last; 0: these bytes have been taken.
  std::size_t backends_end_ = 0;
  std::uint64_t copied_bytes_ = 0;
  bool copied_twice_ = false;
  // The arriving body.
  Body body_ = Body::none;
  // A body has just ended.
  bool short_read_ = false;
  portals::RegionCursor landing_;
  // The last targets() began with landing memory.
  bool direct_ = false;
  void* cookie_ = nullptr;
  std::uint64_t body_length_ = 0;
  // Bytes of the body that no segment has announced yet.
  std::uint64_t body_left_ = 0;
  std::uint64_t segment_left_ = 0;
  bool in_segment_ = false;
  // Checksum of the segment's bytes so far.
  std::uint32_t segment_crc_ = 0;
  // The checksum of the whole segment according to its prefix.
  std::uint32_t segment_want_ = 0;
  // The fields from here to loss_ describe the end of the stream. ended_: no more bytes are read.
  bool ended_ = false;
  // The last frame was a goodbye, so an end of the stream is orderly.
  bool goodbye_ = false;
  // The end of the stream has been reported.
  bool delivered_ = false;
  std::string loss_;
};

}  // namespace margay::sim
