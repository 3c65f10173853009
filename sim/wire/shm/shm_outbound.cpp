#include "sim/wire/shm/shm_outbound.hpp"

#include <algorithm>
#include <cstring>

#include "portals/base/assert.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/process_memory.hpp"

namespace margay::sim {
namespace {

using portals::Header;
using portals::Region;
using portals::RegionCursor;

// Chunks begin small, so that the receiver starts early, and grow, so that long bodies need few handovers.
constexpr std::size_t kFirstChunkBytes = 8192;
constexpr std::size_t kLastChunkBytes = std::size_t{16} * 1024;

// If the method is measured, bodies that begin with a shorter piece are not offered. A body of 64 KiB in blocks of 64
// bytes took 247 us by reading and 11 us through the ring, so a few trials of reading were most of a stream's cost.
constexpr std::size_t kOfferPieceBytes = 1024;
// Up to this length, lines are pushed even to a receiver that may be behind (a stream of bodies of 1 KiB: 3.6 GB/s with
// this, 3.0 without).
constexpr std::size_t kAlwaysHintBytes = 1024;

std::size_t chunk_bytes(std::uint64_t carried) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(carried, kFirstChunkBytes, kLastChunkBytes));
}

// Estimates, after the first pieces of a body, whether its table would be too long. To examine all of a body in blocks
// of 8 bytes takes longer than to send it.
bool too_many(std::size_t pieces, std::uint64_t bytes, std::uint64_t left) {
  constexpr std::size_t kFirstPieces = 64;
  return pieces == kFirstPieces && left / (bytes / kFirstPieces + 1) > kOfferPiecesMax;
}

void copy_out(const Region& body, std::byte* to) {
  if (body.contiguous()) {
    portals::copy_bytes(to, body.single().base, body.single().bytes);
  } else {
    RegionCursor(body).read({to, static_cast<std::size_t>(body.bytes())});
  }
}

}  // namespace

ShmOutbound::ShmOutbound(ChannelData& channel, const RankArea& mine, RankArea& peer, std::uint32_t my_local_rank,
                         bool registered, LongMethod long_method, const Clock& clock)
    : cells_(channel.cells, channel.consumer),
      bytes_(channel.bytes, channel.producer, channel.consumer),
      offers_(channel.consumer),
      bell_(peer.bell, registered),
      mine_(&mine),
      peer_(&peer),
      my_local_rank_(my_local_rank),
      direct_writer_(channel, peer, clock),
      long_method_(long_method) {}

void ShmOutbound::publish(std::uint64_t first_word) {
  cells_.publish(first_word);
  if (!opened_) [[unlikely]] {
    opened_ = true;
    // The flag is set before the count, so a receiver that sees the new count finds the flag.
    set_flag(peer_->opened[my_local_rank_]);
    count_flag(peer_->opened_count);
  }
}

// Puts `count` bytes into the ring, chunk by chunk, so that the receiver copies one chunk while this side copies the
// next. Requires: room for `count` bytes.
void ShmOutbound::put_body(RegionCursor& body, std::size_t count) {
  for (std::size_t put = 0; put < count;) {
    const std::size_t chunk = std::min(chunk_bytes(put), count - put);
    bytes_.write(body, chunk);
    bytes_.publish();
    put += chunk;
  }
}

// Pushes the body's cache lines only towards a receiver that waits for them. A receiver that is behind does not find
// them sooner, and each line costs this side 6 ns (a stream of bodies of 4 KiB: 4.3 GB/s with the push, 7.3 without).
void ShmOutbound::hint_caches(std::size_t count) {
  if (!moves_lines_) return;
  if (peer_has_sent_ || count <= kAlwaysHintBytes) bytes_.hint_caches(count);
  peer_has_sent_ = false;
  bytes_.prepare(count);
}

// Sends a message whose body lies in the cell, or in the byte ring before it. False: no room in the byte ring.
// Requires: room for a cell; `method` is in_cell or before_cell. Inline, because every short message passes here.
[[gnu::always_inline]] inline bool ShmOutbound::put_whole(const Header& header, const EncodedHead& head,
                                                          BodyMethod method, const Region& body) {
  const auto count = static_cast<std::size_t>(header.length);
  if (method == BodyMethod::in_cell) {
    if (count != 0) copy_out(body, cells_.cell() + head.bytes);
    publish(head.first_word);
    bell_.ring_if_sleeping();
    return true;
  }
  // A body on offer may still need the ring, and then must precede this body.
  if (offers_.stands() || bytes_.room(count) < count) return false;
  if (body.contiguous()) {
    bytes_.write({body.single().base, count});
  } else {
    RegionCursor cursor(body);
    bytes_.write(cursor, count);
  }
  publish(head.first_word);
  bell_.ring_if_sleeping();
  hint_caches(count);
  return true;
}

// Sends a whole message at once, or nothing of it.
bool ShmOutbound::try_send(const Header& header, const Region& body) {
  if (!queue_.empty() || lost() || !cells_.has_room()) return false;
  MARGAY_ASSERT(body.bytes() == header.length);
  EncodedHead head{0, kFrameHeadMinBytes};
  if (!encode_plain_head(header, cells_.cell(), head.first_word)) [[unlikely]]
    head = encode_head(header, cells_.cell());
  const BodyMethod method = shm_body_method(head.bytes, header.length);
  if (method != BodyMethod::after_cell) return put_whole(header, head, method, body);
  // A body that could be offered needs send(), because an offered body stays in the sender's memory until it is read.
  if (header.length > kByteRingBytes || offers_.stands() || can_offer(header.length)) return false;
  // The whole body must fit, because a published cell cannot be taken back.
  const auto count = static_cast<std::size_t>(header.length);
  if (bytes_.room(count) < count) return false;
  publish(head.first_word);
  bell_.ring_if_sleeping();
  RegionCursor cursor(body);
  put_body(cursor, count);
  bell_.ring_if_sleeping();
  return true;
}

bool ShmOutbound::queue(Transmission& transmission) {
  MARGAY_ASSERT(!lost() && transmission.body.bytes() == transmission.header.length);
  const bool first = queue_.empty();
  transmission.state = Transmission::State::queued;
  transmission.cursor = RegionCursor(transmission.body);
  transmission.method = TraceBody::none;
  queue_.push(transmission);
  return first;
}

bool ShmOutbound::replace(const Transmission& transmission, Transmission& instead) {
  const bool first = queue_.front() == &transmission;
  if (first && first_ == First::streaming) return false;
  if (first && first_ != First::undecided) first_becomes(First::undecided);
  // A message whose body is on offer is not in the queue, so it is not replaced.
  return queue_.replace(transmission, instead);
}

bool ShmOutbound::advance(TransmissionList& finished, bool may_help) {
  bool moved = offers_.stands() && advance_offers(finished);
  while (!queue_.empty()) {
    if (first_ != First::streaming) {
      if (!begin(finished)) break;
      moved = true;
      continue;
    }
    Transmission& first = *queue_.front();
    if (first.stop_asked) {
      if (!cut(first)) break;
      moved = true;
    } else {
      moved |= stream(first);
      if (first.cursor.left() != 0) break;
    }
    finish_first(finished);
  }
  if (may_help && offers_.stands() && oldest_ == Oldest::awaits_answer) moved |= help();
  if (moved) bell_.ring_if_sleeping();
  return moved;
}

// Processes the receiver's answers to the bodies on offer. A stop is ignored while an offer stands, because the
// receiver may be reading, and its answer reports whether it needs the body. A body that goes through the byte ring
// after all is not cut either, because other cells may follow its cell.
bool ShmOutbound::advance_offers(TransmissionList& finished) {
  bool moved = false;
  while (offers_.stands()) {
    Transmission& oldest = *offered(offers_.oldest()).transmission;
    if (oldest_ == Oldest::awaits_answer) {
      const ReadAnswer answer = offers_.answer();
      if (answer == ReadAnswer::none) return moved;
      moved = true;
      if (answer != ReadAnswer::over) {
        oldest_ = Oldest::through_ring;
        oldest.method = TraceBody::ring_instead;
      }
      // `cannot` applies to all later bodies of this channel; `cannot_now` applies to this body only.
      if (answer == ReadAnswer::cannot) {
        choice_ = {false, false, "the other side cannot read this process's memory"};
      }
    }
    if (oldest_ == Oldest::through_ring) {
      moved |= stream(oldest);
      if (oldest.cursor.left() != 0) return moved;
      oldest_ = Oldest::awaits_answer;
    }
    end_offer(Transmission::State::sent, finished);
  }
  return moved;
}

// The choice is made at the first long body, so that startup and short messages do not pay for it.
bool ShmOutbound::choose() {
  if (long_method_ != LongMethod::ring && read_published(peer_->pid) == 0) return false;
  choice_ = choose_long_method(long_method_, *mine_, *peer_);
  MARGAY_ASSERT(choice_.made());
  return choice_.reads;
}

bool ShmOutbound::can_offer(std::uint64_t length) {
  return length >= kReadBodyMinBytes && (choice_.made() ? choice_.reads : choose());
}

// Called once for each body, because BodyMethodChooser counts bodies.
bool ShmOutbound::should_offer(const Transmission& transmission) {
  const std::uint64_t length = transmission.header.length;
  if (transmission.stop_asked || !can_offer(length)) return false;
  // While the owner computes, reading is better, because it needs no turn of this process.
  if (!choice_.measured || away_) return true;
  return transmission.cursor.peek(length).bytes >= kOfferPieceBytes && chooser_.reading(length, offers_.preferences());
}

// Lists the body's pieces. False: there are too many.
bool ShmOutbound::make_table(const Transmission& transmission, std::vector<portals::Buffer>& table) {
  table.clear();
  for (RegionCursor cursor(transmission.body); cursor.left() != 0;) {
    if (table.size() == kOfferPiecesMax ||
        too_many(table.size(), transmission.header.length - cursor.left(), cursor.left()))
      return false;
    const portals::Buffer piece = cursor.peek(cursor.left());
    table.push_back(piece);
    cursor.skip(piece.bytes);
  }
  return true;
}

// Offers a body for reading. The table of pieces must not change until the answer. False: this body cannot be offered.
// Requires: room for an offer and its cell.
bool ShmOutbound::offer(Transmission& transmission) {
  std::byte* const cell = cells_.cell();
  const EncodedHead head = encode_head(transmission.header, cell, true);
  Offered& next = offered(offers_.next());
  if (head.bytes > kOfferHeadMaxBytes || !make_table(transmission, next.table)) return false;
  const std::byte* const what =
      next.table.size() == 1 ? next.table[0].base : reinterpret_cast<const std::byte*>(next.table.data());
  const ReadOffer trace_body{reinterpret_cast<std::uintptr_t>(what), next.table.size()};
  std::memcpy(cell + head.bytes, &trace_body, sizeof trace_body);
  next.transmission = &transmission;
  transmission.method = TraceBody::read;
  offers_.offer();
  publish(head.first_word);
  return true;
}

// While the receiver reads a body from its beginning, this side writes it from its end. Writes one chunk only, so that
// the answer is polled again soon.
bool ShmOutbound::help() {
  const std::vector<portals::Buffer>& table = offered(offers_.oldest()).table;
  return table.size() == 1 && direct_writer_.help(offers_.oldest(), {table[0].base, table[0].bytes});
}

// Begins the first message of the queue. False: the message has to wait.
bool ShmOutbound::begin(TransmissionList& finished) {
  if (!cells_.has_room()) return false;
  Transmission& first = *queue_.front();
  if (first_ == First::undecided) first_becomes(should_offer(first) ? First::to_offer : First::to_send);
  if (first_ == First::to_offer) {
    if (!offers_.has_room()) return false;
    if (offer(first)) {
      static_cast<void>(queue_.pop());
      first_becomes(First::undecided);
      return true;
    }
    first_becomes(First::to_send);
  }
  const EncodedHead head = encode_head(first.header, cells_.cell());
  const BodyMethod method = shm_body_method(head.bytes, first.header.length);
  if (method == BodyMethod::after_cell) {
    // The body would overtake a body on offer that may still need the ring.
    if (offers_.stands()) return false;
    publish(head.first_word);
    first.method = trace_body(method);
    first_becomes(First::streaming);
    return true;
  }
  if (!put_whole(first.header, head, method, first.body)) return false;
  first.method = trace_body(method);
  first.cursor.skip(first.cursor.left());
  finish_first(finished);
  return true;
}

bool ShmOutbound::stream(Transmission& transmission) {
  RegionCursor& body = transmission.cursor;
  const std::uint64_t before = body.left();
  while (body.left() != 0) {
    const std::size_t room = bytes_.room(1);
    if (room == 0) break;
    const std::uint64_t chunk =
        std::min<std::uint64_t>(chunk_bytes(transmission.header.length - body.left()), body.left());
    bytes_.write(body, static_cast<std::size_t>(std::min<std::uint64_t>(chunk, room)));
    bytes_.publish();
  }
  return body.left() != before;
}

// Ends a stopped body. The receiver finds the control cell in the place of the next message's cell; it contains the
// offset at which the body ends.
bool ShmOutbound::cut(Transmission& transmission) {
  if (!cells_.has_room()) return false;
  const std::uint64_t carried = transmission.header.length - transmission.cursor.left();
  publish(encode_control(FrameType::cut, carried, cells_.cell()).first_word);
  return true;
}

void ShmOutbound::finish_first(TransmissionList& finished) {
  Transmission* done = queue_.pop();
  done->state = done->cursor.left() == 0 ? Transmission::State::sent : Transmission::State::stopped;
  done->copied_bytes = done->header.length - done->cursor.left();
  finished.push(*done);
  first_becomes(First::undecided);
}

void ShmOutbound::end_offer(Transmission::State state, TransmissionList& finished) {
  Transmission& done = *offered(offers_.oldest()).transmission;
  done.copied_bytes = done.header.length - done.cursor.left();
  done.cursor.skip(done.cursor.left());
  done.state = state;
  finished.push(done);
  offers_.end();
}

void ShmOutbound::fail(TransmissionList& finished) {
  first_becomes(First::lost);
  oldest_ = Oldest::awaits_answer;
  while (offers_.stands()) end_offer(Transmission::State::failed, finished);
  while (Transmission* left = queue_.pop()) {
    left->state = Transmission::State::failed;
    finished.push(*left);
  }
}

}  // namespace margay::sim
