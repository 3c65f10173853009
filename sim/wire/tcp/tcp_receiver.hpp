// What comes from one peer: bytes in, arrivals out. Pure: a backend asks where the next bytes belong, reads them there,
// and says how many came.
//
// Invariants
// 1. Bytes of an accepted body go straight to its landing memory, except those that were already read ahead.
// 2. Nothing is taken as a length before the prefix's checksum has been compared, and nothing is acted on before the
//    frame's checksum has; content of segments lands first and is compared when the segment is complete.
// 3. After a body a read ahead is short, so that a stream of long messages is hardly ever copied.
// 4. The one buffer bounds what a peer can make this rank keep: a full one is not read into, and TCP's window is the
//    backpressure on the peer.
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

// What one read can bring of short messages: three of the longest whole frames.
inline constexpr std::size_t kReceiveBufferBytes = std::size_t{256} * 1024;
// After a long body: enough for some short frames, little enough that of the next long body hardly any is copied twice.
inline constexpr std::size_t kReadAheadAfterBodyBytes = std::size_t{4} * 1024;
inline constexpr std::size_t kTargetsMax = 16;  // pieces of one read
inline constexpr std::size_t kLandingPieceBytesMin = 512;
static_assert(kReceiveBufferBytes >= 2 * (kWholeBytes + kFrameOverheadMaxBytes));

class TcpReceiver {
 public:
  // Arrivals say `peer`, and their headers that `source` sent to `destination`.
  TcpReceiver(std::uint32_t peer, portals::ProcessId source, portals::ProcessId destination);
  TcpReceiver(const TcpReceiver&) = delete;
  TcpReceiver& operator=(const TcpReceiver&) = delete;

  // Where the next bytes belong, in order; returns how many of `pieces` (kTargetsMax) it filled. 0: no room before
  // arrivals are taken. The memory stays valid until received() or end().
  [[nodiscard]] std::size_t targets(std::span<iovec> pieces);
  // targets() names no more than what surely belongs together: while a body is under way, and just after one.
  [[nodiscard]] bool wants_exact() const { return body_ != Body::none || short_read_; }
  // The first `bytes` of what targets() said are there, read from the socket or `copied` out of a buffer of the
  // backend's. Requires: no targets() in between.
  void received(std::size_t bytes, bool copied = false);
  // Nothing more will come; `why`, a sentence's end, is empty for an end of stream.
  void end(std::string why);
  // Sending failed for this reason: what came before it is still taken, and the end, when it comes, is told by it.
  void suspect(std::string why) {
    if (loss_.empty()) loss_ = std::move(why);
  }

  // After an orderly end: that is a loss after all, to messages that were to go there.
  void miss(std::string why);

  // The next arrival: whole, started, finished, cut or lost; false: more bytes are needed. A whole or started stays the
  // next until it is answered. After lost (or an orderly end) there is none.
  [[nodiscard]] bool next(Arrival& arrival);
  void consume();
  void accept(const portals::Region& landing, void* cookie);
  void refuse();
  void hold();

  // For a trace. Of the last message that was told whole or finished: how many bytes of its body were copied out of
  // buffers; of a whole one, whether the backend copied some of its frame into this one's before.
  [[nodiscard]] std::uint64_t copied_bytes() const { return copied_bytes_; }
  [[nodiscard]] bool copied_twice() const { return copied_twice_; }

  [[nodiscard]] bool ended() const { return ended_; }
  // The peer said goodbye and all it sent has been taken.
  [[nodiscard]] bool left() const { return goodbye_; }
  // An accepted body whose end has not been told.
  [[nodiscard]] bool receiving() const { return body_ != Body::none; }

 private:
  enum class Body : std::uint8_t { none, landing, discard };
  enum class Step : std::uint8_t { need_bytes, again, arrival };

  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] std::byte* front() { return buffer_.get() + begin_; }
  void make_room();
  [[nodiscard]] bool lands_in_long_pieces() const;
  [[nodiscard]] std::size_t landing_targets(std::span<iovec> pieces);
  void landed(std::size_t bytes);
  void take_buffered_content();

  [[nodiscard]] Step step(Arrival& arrival);
  [[nodiscard]] Step step_frame(Arrival& arrival);
  [[nodiscard]] Step step_segment(const FramePrefix& prefix, const DecodedHead& head);
  [[nodiscard]] Step step_message(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  [[nodiscard]] Step step_control(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival);
  [[nodiscard]] Step finish_segment(Arrival& arrival);
  [[nodiscard]] bool finish_stream(Arrival& arrival);
  void start_body(Body body);
  void end_body(Arrival& arrival, Arrival::Kind kind);
  Step malformed(std::string_view why);

  // Constant after construction.
  const std::uint32_t peer_;
  const portals::ProcessId source_;
  const portals::ProcessId destination_;
  // Read ahead: [begin_, end_) of the buffer. Allocated with the first bytes.
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t offered_bytes_ = 0;  // of the frame that the last arrival was made from, until it is answered
  std::size_t checked_bytes_ = 0;  // of the front frame, whose checksum is known to be right
  std::uint64_t messages_ = 0;
  std::size_t backends_end_ = 0;  // of what the backend copied into the buffer last; 0: that has been taken
  std::uint64_t copied_bytes_ = 0;
  bool copied_twice_ = false;
  // The body under way.
  Body body_ = Body::none;
  bool short_read_ = false;  // a body has just ended
  portals::RegionCursor landing_;
  bool direct_ = false;  // targets() named landing memory first
  void* cookie_ = nullptr;
  std::uint64_t body_length_ = 0;
  std::uint64_t body_left_ = 0;  // not yet announced by a segment
  std::uint64_t segment_left_ = 0;
  bool in_segment_ = false;
  std::uint32_t segment_crc_ = 0;   // so far
  std::uint32_t segment_want_ = 0;  // as the prefix says
  // The end.
  bool ended_ = false;
  bool goodbye_ = false;
  bool told_ = false;
  std::string loss_;
};

}  // namespace margay::sim
