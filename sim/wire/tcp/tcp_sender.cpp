#include "sim/wire/tcp/tcp_sender.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/crc32c.hpp"

namespace margay::sim {

using portals::Buffer;
using portals::Header;
using portals::Region;
using portals::RegionCursor;

std::byte* TcpSender::gather_at() {
  auto& half = halves_[gathering_];
  if (half == nullptr) half = std::make_unique_for_overwrite<std::byte[]>(kSendBufferBytes);
  return half.get() + gathered_bytes_;
}

bool TcpSender::try_put(const Header& header, const Region& body) {
  // A queued message must not be overtaken (invariant 1).
  if (!queued_.empty() || header.length > kWholeBytes) return false;
  // The test assumes the longest head, because the length of this head is known only when it has been written.
  if (room() < kFrameOverheadMaxBytes + header.length) return false;
  put_message(header, &body);
  count_message();
  return true;
}

// Writes the prefix before the head at `frame`, and counts both as gathered.
void TcpSender::put_prefix(std::byte* frame, std::size_t head_bytes, std::uint64_t content_bytes, std::uint32_t crc) {
  FramePrefix prefix;
  prefix.crc = crc;
  prefix.content_bytes = static_cast<std::uint32_t>(content_bytes);
  prefix.head_bytes = static_cast<std::uint32_t>(head_bytes);
  write_prefix(prefix, frame);
  gathered_bytes_ += kPrefixBytes + head_bytes;
}

// Appends a message's frame, with a copy of the body; without a body (nullptr) if the body follows in segments.
// Requires: room for the frame.
void TcpSender::put_message(const Header& header, const Region* body) {
  std::byte* frame = gather_at();
  std::byte* head = frame + kPrefixBytes;
  const std::size_t head_bytes = write_head(header, head);
  const std::uint64_t content_bytes = body != nullptr ? header.length : 0;
  if (content_bytes != 0) portals::copy(Region(head + head_bytes, content_bytes), *body);
  put_prefix(frame, head_bytes, content_bytes, crc32c({head, head_bytes + content_bytes}));
  gathered_bytes_ += content_bytes;
}

void TcpSender::put_control(FrameType type, std::uint64_t argument) {
  std::byte* frame = gather_at();
  const std::size_t head_bytes = write_control(type, argument, frame + kPrefixBytes);
  put_prefix(frame, head_bytes, 0, crc32c({frame + kPrefixBytes, head_bytes}));
}

void TcpSender::queue(Transmission& transmission) {
  transmission.state = Transmission::State::queued;
  transmission.stop_asked = false;
  transmission.cursor = RegionCursor(transmission.body);
  transmission.copied_bytes = 0;
  count_message();
  queued_.push(transmission);
}

void TcpSender::stop(Transmission& transmission) {
  if (transmission.state == Transmission::State::queued) transmission.stop_asked = true;
}

// False if a part of the transmission has been gathered, because bytes that were gathered cannot be taken back.
bool TcpSender::replace(const Transmission& transmission, Transmission& instead) {
  if (queued_.front() == &transmission &&
      (front_started_ || transmission.cursor.left() != transmission.header.length)) {
    return false;
  }
  return queued_.replace(transmission, instead);
}

void TcpSender::finish_front(Transmission::State state) {
  Transmission* front = queued_.pop();
  front->state = state;
  front_started_ = false;
  finished_.push(*front);
}

void TcpSender::fail() {
  // Copied messages were reported as sent already, so only queued transmissions can fail.
  gathered_bytes_ = batch_bytes_ = 0;
  direct_length_ = 0;
  batch_ends_front_ = direct_ends_front_ = leaving_ = false;
  while (!queued_.empty()) finish_front(Transmission::State::failed);
}

void TcpSender::gather() {
  while (!queued_.empty()) {
    if (!gather_front()) return;
  }
  // All queued messages have been gathered, so a goodbye may follow.
  if (!goodbye_due() || room() < kFrameOverheadMaxBytes) return;
  put_control(FrameType::goodbye, messages_);
  goodbye_sent_ = true;
}

bool TcpSender::gather_front() {
  Transmission& front = *queued_.front();
  if (room() < kFrameOverheadMaxBytes) return false;
  // The head of the front transmission is in the stream already, so only segments or a cut may follow.
  if (front_started_) return gather_segment(front);
  if (front.header.length > kWholeBytes) {
    put_message(front.header, nullptr);
    // From here on the transmission can be cut but not replaced.
    front_started_ = true;
    return true;
  }
  // A body that may change is copied, because the checksum of the present bytes might not match the bytes that leave
  // later.
  bool scattered = false;
  const bool reachable = direct_bytes(front.cursor, front.header.length, scattered) == front.header.length;
  if (front.header.length <= kGatherCopyBytes || scattered || !reachable || front.may_change) {
    if (room() < kFrameOverheadMaxBytes + front.header.length) return false;
    put_message(front.header, &front.body);
    front.copied_bytes = front.header.length;
    finish_front(Transmission::State::sent);
    return true;
  }
  put_direct(front, write_head(front.header, gather_at() + kPrefixBytes), front.header.length);
  return false;
}

bool TcpSender::gather_segment(Transmission& front) {
  const std::uint64_t left = front.cursor.left();
  if (front.stop_asked) {
    put_control(FrameType::cut, front.header.length - left);
    finish_front(Transmission::State::stopped);
    return true;
  }
  bool scattered = false;
  std::uint64_t bytes = direct_bytes(front.cursor, std::min<std::uint64_t>(left, kSegmentBytes), scattered);
  // A body that may change is copied too (see gather_front()). A copied segment has at most kWholeBytes, and at most
  // the room that is left.
  scattered |= front.may_change;
  if (scattered) bytes = std::min<std::uint64_t>({left, kWholeBytes, room() - kFrameOverheadMaxBytes});
  if (bytes == 0) return false;
  const std::size_t head_bytes = write_control(FrameType::segment, bytes, gather_at() + kPrefixBytes);
  if (!scattered) {
    put_direct(front, head_bytes, bytes);
    return false;
  }
  std::byte* frame = gather_at();
  front.cursor.read({frame + kPrefixBytes + head_bytes, bytes});
  front.copied_bytes += bytes;
  put_prefix(frame, head_bytes, bytes, crc32c({frame + kPrefixBytes, head_bytes + bytes}));
  gathered_bytes_ += bytes;
  if (front.cursor.left() == 0) finish_front(Transmission::State::sent);
  return true;
}

// The number of bytes from `cursor` on, at most `limit`, that one batch can send directly from the program's memory, in
// at most kPiecesMax pieces. `scattered`: the pieces are so small that to copy them costs less than to pass them to the
// operating system.
std::uint64_t TcpSender::direct_bytes(const RegionCursor& cursor, std::uint64_t limit, bool& scattered) {
  RegionCursor ahead = cursor;
  std::uint64_t bytes = 0;
  std::size_t pieces = 0;
  while (bytes < limit && pieces < kPiecesMax) {
    const Buffer piece = ahead.peek(limit - bytes);
    ahead.skip(piece.bytes);
    bytes += piece.bytes;
    ++pieces;
  }
  scattered = pieces > 1 && bytes / pieces < kPieceBytesMin;
  return bytes;
}

// Ends the gathered batch with a frame whose head has been written, and whose content is memory of the front
// transmission's body.
void TcpSender::put_direct(Transmission& front, std::size_t head_bytes, std::uint64_t bytes) {
  std::byte* frame = gather_at();
  // direct_ is a copy, because the loop below advances the cursor.
  direct_ = front.cursor;
  direct_length_ = bytes;
  std::uint32_t crc = crc32c({frame + kPrefixBytes, head_bytes});
  for (std::uint64_t done = 0; done < bytes;) {
    const Buffer piece = front.cursor.peek(bytes - done);
    // The checksum is computed directly before the system call that copies the bytes, which then finds them in the
    // cache.
    crc = crc32c({piece.base, piece.bytes}, crc);
    front.cursor.skip(piece.bytes);
    done += piece.bytes;
  }
  put_prefix(frame, head_bytes, bytes, crc);
  direct_ends_front_ = front.cursor.left() == 0;
}

std::span<const iovec> TcpSender::batch() {
  if (batch_bytes_ == 0) {
    gather();
    if (gathered_bytes_ == 0) return {};
    first_piece_ = 0;
    pieces_[0] = {halves_[gathering_].get(), gathered_bytes_};
    piece_count_ = 1;
    batch_bytes_ = gathered_bytes_ + direct_length_;
    for (std::uint64_t done = 0; done < direct_length_;) {
      const Buffer piece = direct_.peek(direct_length_ - done);
      pieces_[piece_count_++] = {piece.base, piece.bytes};
      direct_.skip(piece.bytes);
      done += piece.bytes;
    }
    batch_ends_front_ = direct_ends_front_;
    direct_length_ = 0;
    direct_ends_front_ = false;
    gathered_bytes_ = 0;
    // The other half is free, because its batch has been sent.
    gathering_ ^= 1;
  }
  return {pieces_.data() + first_piece_, piece_count_ - first_piece_};
}

void TcpSender::sent(std::size_t bytes) {
  MARGAY_ASSERT(bytes <= batch_bytes_);
  batch_bytes_ -= bytes;
  while (bytes != 0) {
    iovec& piece = pieces_[first_piece_];
    const std::size_t here = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + here;
    piece.iov_len -= here;
    bytes -= here;
    if (piece.iov_len == 0) ++first_piece_;
  }
  // The program's memory may be read until the last byte of the batch has left (invariant 3).
  if (batch_bytes_ != 0) return;
  if (batch_ends_front_) finish_front(Transmission::State::sent);
  batch_ends_front_ = false;
}

}  // namespace margay::sim
