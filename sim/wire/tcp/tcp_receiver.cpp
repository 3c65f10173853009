#include "sim/wire/tcp/tcp_receiver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/crc32c.hpp"

namespace margay::sim {

using portals::Buffer;
using portals::Region;
using portals::RegionCursor;

TcpReceiver::TcpReceiver(std::uint32_t peer, portals::ProcessId source, portals::ProcessId destination)
    : peer_(peer), source_(source), destination_(destination) {}

// ---- bytes in

std::size_t TcpReceiver::targets(std::span<iovec> pieces) {
  // After the end of the stream, no more bytes are read, even if the peer still sends some.
  if (ended_) return 0;
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kReceiveBufferBytes);
  make_room();
  direct_ = body_ == Body::landing && segment_left_ != 0 && begin_ == end_ && lands_in_long_pieces();
  if (direct_) return landing_targets(pieces);
  std::size_t room = kReceiveBufferBytes - end_;
  // Between segments, only the next segment's prefix and head are read, so that its content can be read into the
  // landing.
  if (body_ == Body::landing && !in_segment_) {
    room = std::min(room, buffered() < kSegmentOverheadBytes ? kSegmentOverheadBytes - buffered() : kFrameHeadMaxBytes);
  } else if (short_read_ && begin_ == end_) {
    room = kReadAheadAfterBodyBytes;
  }
  pieces[0] = {buffer_.get() + end_, room};
  return room == 0 ? 0 : 1;
}

// A segment goes through the buffer, and is copied, in two cases. Its landing begins with a small piece, so one system
// call would probably fill only a few pieces. Or the landing is shorter than the body and ends within the segment.
bool TcpReceiver::lands_in_long_pieces() const {
  if (landing_.left() < segment_left_) return false;
  const std::size_t first = landing_.peek(segment_left_).bytes;
  return first == segment_left_ || first >= kLandingPieceBytesMin;
}

// The places of the segment's remainder in the landing, and a place in the buffer after them: for the prefix and head
// of the next segment, or, after the last segment, for a short read ahead.
std::size_t TcpReceiver::landing_targets(std::span<iovec> pieces) {
  RegionCursor ahead = landing_;
  std::size_t count = 0;
  std::uint64_t left = segment_left_;
  while (left != 0 && count + 1 < pieces.size()) {
    const Buffer piece = ahead.peek(left);
    pieces[count++] = {piece.base, piece.bytes};
    ahead.skip(piece.bytes);
    left -= piece.bytes;
  }
  if (left == 0) pieces[count++] = {buffer_.get(), body_left_ != 0 ? kSegmentOverheadBytes : kReadAheadAfterBodyBytes};
  return count;
}

// Moves bytes that were read ahead to the buffer's beginning, if less than a longest whole frame fits after them. An
// offered frame is never moved.
void TcpReceiver::make_room() {
  if (begin_ == end_) {
    begin_ = end_ = backends_end_ = 0;
  } else if (begin_ != 0 && kReceiveBufferBytes - end_ < kWholeBytes + kFrameOverheadMaxBytes) {
    MARGAY_ASSERT(offered_bytes_ == 0);
    std::memmove(buffer_.get(), front(), buffered());
    end_ -= begin_;
    backends_end_ -= std::min(backends_end_, begin_);
    begin_ = 0;
  }
}

void TcpReceiver::commit(std::size_t bytes, bool copied) {
  if (ended_) return;
  if (direct_) {
    const std::size_t here = std::min<std::uint64_t>(bytes, segment_left_);
    if (copied) copied_bytes_ += here;
    commit_landed(here);
    bytes -= here;
  }
  end_ += bytes;
  if (copied) backends_end_ = end_;
  MARGAY_ASSERT(end_ <= kReceiveBufferBytes);
}

// Counts `bytes` of the segment that are in their landing now, and adds them to the checksum.
void TcpReceiver::commit_landed(std::size_t bytes) {
  segment_left_ -= bytes;
  while (bytes != 0) {
    const Buffer piece = landing_.peek(bytes);
    // The checksum is computed directly after the read, while the bytes are in the cache.
    segment_crc_ = crc32c({piece.base, piece.bytes}, segment_crc_);
    landing_.skip(piece.bytes);
    bytes -= piece.bytes;
  }
}

void TcpReceiver::take_buffered_content() {
  const std::size_t here = std::min<std::uint64_t>(buffered(), segment_left_);
  if (here == 0) return;
  const std::span<const std::byte> bytes(front(), here);
  segment_crc_ = crc32c(bytes, segment_crc_);
  if (body_ == Body::landing) {
    const std::span<const std::byte> wanted = bytes.first(std::min<std::uint64_t>(here, landing_.left()));
    landing_.write(wanted);
    copied_bytes_ += wanted.size();
    copied_twice_ |= backends_end_ > begin_;
  }
  segment_left_ -= here;
  begin_ += here;
}

void TcpReceiver::end(std::string why) {
  if (ended_) return;
  ended_ = true;
  if (loss_.empty()) loss_ = std::move(why);
}

void TcpReceiver::miss(std::string why) {
  // Only an orderly end that has been reached must be turned into a loss. Any other end is reported as a loss anyway.
  if (!goodbye_ || !delivered_) return;
  goodbye_ = delivered_ = false;
  loss_ = std::move(why);
}

// ---- arrivals out

bool TcpReceiver::next(Arrival& arrival) {
  MARGAY_ASSERT(offered_bytes_ == 0);
  for (;;) {
    switch (delivered_ ? Step::need_bytes : step(arrival)) {
      case Step::arrival:
        arrival.peer = peer_;
        return true;
      case Step::again:
        continue;
      case Step::need_bytes:
        return ended_ && !delivered_ && finish_stream(arrival);
    }
  }
}

TcpReceiver::Step TcpReceiver::step(Arrival& arrival) {
  if (!in_segment_) return step_frame(arrival);
  take_buffered_content();
  return segment_left_ == 0 ? finish_segment(arrival) : Step::need_bytes;
}

TcpReceiver::Step TcpReceiver::step_frame(Arrival& arrival) {
  if (buffered() < kPrefixBytes) return Step::need_bytes;
  FramePrefix prefix;
  const std::string_view wrong = read_prefix(front(), prefix);
  if (!wrong.empty()) return malformed(wrong);
  if (buffered() < kPrefixBytes + prefix.head_bytes) return Step::need_bytes;
  DecodedHead head;
  const DecodeResult decoded = decode_head({front() + kPrefixBytes, prefix.head_bytes}, arrival.header, head);
  if (decoded.verdict == Decode::malformed) return malformed(decoded.reason);
  if (decoded.verdict == Decode::incomplete || head.bytes != prefix.head_bytes) {
    return malformed("a frame's header length differs from its prefix");
  }
  // A segment begins before its content is complete, so that the content can be read into the landing.
  if (head.type == FrameType::segment) return step_segment(prefix, head);
  // Any other frame must be complete, and its checksum compared, before it takes effect.
  if (prefix.content_bytes > kWholeBytes) return malformed("a frame's content is longer than its kind allows");
  const std::size_t bytes = prefix.head_bytes + prefix.content_bytes;
  if (buffered() < kPrefixBytes + bytes) return Step::need_bytes;
  // A held message is decoded again in each round, but its checksum is computed once.
  if (checked_bytes_ == 0) {
    if (crc32c({front() + kPrefixBytes, bytes}) != prefix.crc) return malformed("a frame is damaged (CRC32C)");
    checked_bytes_ = kPrefixBytes + bytes;
  }
  return head.type == FrameType::message ? step_message(prefix, head, arrival) : step_control(prefix, head, arrival);
}

TcpReceiver::Step TcpReceiver::step_segment(const FramePrefix& prefix, const DecodedHead& head) {
  if (body_ == Body::none) return malformed("a segment of a body has no message");
  if (head.argument != prefix.content_bytes || head.argument == 0 || head.argument > body_left_) {
    return malformed("a segment of a body has an invalid length");
  }
  segment_crc_ = crc32c({front() + kPrefixBytes, prefix.head_bytes});
  segment_want_ = prefix.crc;
  segment_left_ = prefix.content_bytes;
  body_left_ -= segment_left_;
  // The content follows: it is read directly into the landing, or copied out of the buffer.
  in_segment_ = true;
  begin_ += kPrefixBytes + prefix.head_bytes;
  return Step::again;
}

TcpReceiver::Step TcpReceiver::finish_segment(Arrival& arrival) {
  in_segment_ = false;
  if (segment_crc_ != segment_want_) return malformed("a segment of a body is damaged (CRC32C)");
  // The next segment, or a cut, follows.
  if (body_left_ != 0) return Step::again;
  const bool is_landing = body_ == Body::landing;
  end_body(arrival, Arrival::Kind::finished);
  return is_landing ? Step::arrival : Step::again;
}

TcpReceiver::Step TcpReceiver::step_message(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival) {
  const std::uint64_t length = arrival.header.length;
  const bool whole = length <= kWholeBytes;
  if (head.read_body) return malformed("a message offers its body for reading, which this wire cannot do");
  if (body_ != Body::none) return malformed("a message inside the body of another");
  if (prefix.content_bytes != (whole ? length : 0)) return malformed("a frame's content is not its message's body");
  if (length > kMessageLimitBytes) return malformed("a message is longer than the limit");
  arrival.kind = whole ? Arrival::Kind::whole : Arrival::Kind::started;
  arrival.sequence = messages_ + 1;
  arrival.header.source = source_;
  arrival.header.destination = destination_;
  arrival.body = whole ? Region(front() + kPrefixBytes + prefix.head_bytes, prefix.content_bytes) : Region();
  // A message revokes a goodbye.
  goodbye_ = false;
  body_length_ = length;
  copied_bytes_ = prefix.content_bytes;
  copied_twice_ = backends_end_ > begin_;
  offered_bytes_ = checked_bytes_;
  return Step::arrival;
}

TcpReceiver::Step TcpReceiver::step_control(const FramePrefix& prefix, const DecodedHead& head, Arrival& arrival) {
  if (prefix.content_bytes != 0) return malformed("a control frame has content");
  begin_ += std::exchange(checked_bytes_, 0);
  if (head.type == FrameType::cut) {
    if (body_ == Body::none || head.argument != body_length_ - body_left_)
      return malformed("a cut without a body, or at a wrong position");
    const bool is_landing = body_ == Body::landing;
    end_body(arrival, Arrival::Kind::cut);
    return is_landing ? Step::arrival : Step::again;
  }
  if (head.type != FrameType::goodbye) return malformed("a control frame of an unknown type");
  if (body_ != Body::none || goodbye_) return malformed("a goodbye inside a body, or after another goodbye");
  // Without this comparison, a stream that lost a frame would seem to end in an orderly way.
  if (head.argument != messages_)
    return malformed("the count in its goodbye is not the number of messages that arrived");
  goodbye_ = true;
  return Step::again;
}

// Called when no complete frame is left.
bool TcpReceiver::finish_stream(Arrival& arrival) {
  if (body_ == Body::landing) {
    end_body(arrival, Arrival::Kind::cut);
    arrival.peer = peer_;
    if (loss_.empty()) loss_ = "its connection ended inside a body";
    return true;
  }
  delivered_ = true;
  // An orderly end is not an event. The wire closes the link.
  if (goodbye_ && buffered() == 0) return false;
  if (loss_.empty()) {
    const bool inside = buffered() != 0 || in_segment_ || body_ != Body::none;
    loss_ = inside ? "its connection ended inside a frame" : "its connection ended without a goodbye";
  }
  arrival.kind = Arrival::Kind::lost;
  arrival.peer = peer_;
  arrival.loss = loss_;
  return true;
}

void TcpReceiver::end_body(Arrival& arrival, Arrival::Kind kind) {
  arrival.kind = kind;
  arrival.cookie = std::exchange(cookie_, nullptr);
  body_ = Body::none;
  in_segment_ = false;
  short_read_ = true;
}

// A mistake in a peer's bytes never fails an assertion, but ends the connection.
TcpReceiver::Step TcpReceiver::malformed(std::string_view why) {
  // Bytes after a damaged frame have no meaning.
  begin_ = end_ = 0;
  in_segment_ = false;
  goodbye_ = false;
  ended_ = true;
  loss_ = why;
  return Step::need_bytes;
}

// ---- answers

void TcpReceiver::consume() {
  MARGAY_ASSERT(offered_bytes_ != 0);
  begin_ += std::exchange(offered_bytes_, 0);
  checked_bytes_ = 0;
  ++messages_;
  short_read_ = false;
}

void TcpReceiver::hold() {
  offered_bytes_ = 0;
}

void TcpReceiver::accept(const Region& landing, void* cookie) {
  MARGAY_ASSERT(landing.bytes() <= body_length_);
  start_body(Body::landing);
  landing_ = RegionCursor(landing);
  cookie_ = cookie;
}

void TcpReceiver::refuse() {
  start_body(Body::discard);
}

void TcpReceiver::start_body(Body body) {
  consume();
  body_ = body;
  body_left_ = body_length_;
  segment_left_ = 0;
  copied_bytes_ = 0;
  copied_twice_ = false;
}

}  // namespace margay::sim
