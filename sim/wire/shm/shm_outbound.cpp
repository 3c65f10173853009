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

// Chunks begin small, so that the receiver starts early, and grow, so that long bodies pay few handovers.
constexpr std::size_t kFirstChunkBytes = 8192;
constexpr std::size_t kLastChunkBytes = std::size_t{16} * 1024;

// Bodies that begin with a shorter piece are not offered where the way is measured: 64 KiB in blocks of 64 bytes took
// 247 us by reading, 11 through the ring, and two tries in 64 (now 256) were most of what they cost.
constexpr std::size_t kOfferPieceBytes = 1024;
// Bodies up to here are sent on their way even to a receiver that may be behind (a stream of 1 KiB bodies: 3.6 GB/s
// with, 3.0 without).
constexpr std::size_t kAlwaysLetGoBytes = 1024;

std::size_t chunk_bytes(std::uint64_t carried) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(carried, kFirstChunkBytes, kLastChunkBytes));
}

// After the first pieces of a body: whether the rest, in such pieces, would make a table that is too long. Looking at
// all of a body in blocks of 8 bytes takes longer than sending it.
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
    set_flag(peer_->opened[my_local_rank_]);
    count_flag(peer_->opened_count);
  }
}

// Requires: room for `count` bytes. The receiver copies the chunks that are published while we copy the next.
void ShmOutbound::put_body(RegionCursor& body, std::size_t count) {
  for (std::size_t put = 0; put < count;) {
    const std::size_t chunk = std::min(chunk_bytes(put), count - put);
    bytes_.write(body, chunk);
    bytes_.publish();
    put += chunk;
  }
}

// The body's lines are sent on their way only to a receiver that waits for them: one that is behind finds them no
// sooner, and each costs us 6 ns (a stream of 4 KiB bodies: 4.3 GB/s with, 7.3 without).
void ShmOutbound::let_go(std::size_t count) {
  if (!moves_lines_) return;
  if (heard_ || count <= kAlwaysLetGoBytes) bytes_.let_go(count);
  heard_ = false;
  bytes_.prepare(count);
}

// A message that is whole with its cell: its body lies in the cell, or in the byte ring before it. False: no room in
// the byte ring. Requires: room for a cell, `way` is in_cell or before_cell. Inline: every short message comes through
// here.
[[gnu::always_inline]] inline bool ShmOutbound::put_whole(const Header& header, const EncodedHead& head, BodyWay way,
                                                          const Region& body) {
  const auto count = static_cast<std::size_t>(header.length);
  if (way == BodyWay::in_cell) {
    if (count != 0) copy_out(body, cells_.cell() + head.bytes);
    publish(head.first_word);
    bell_.ring_if_sleeping();
    return true;
  }
  if (offers_.stands() || bytes_.room(count) < count) return false;
  if (body.contiguous()) {
    bytes_.write({body.single().base, count});
  } else {
    RegionCursor cursor(body);
    bytes_.write(cursor, count);
  }
  publish(head.first_word);
  bell_.ring_if_sleeping();
  let_go(count);
  return true;
}

// Takes a body at once or not at all.
bool ShmOutbound::try_send(const Header& header, const Region& body) {
  if (!queue_.empty() || lost() || !cells_.has_room()) return false;
  MARGAY_ASSERT(body.bytes() == header.length);
  EncodedHead head{0, kFrameHeadMinBytes};
  if (!encode_plain_head(header, cells_.cell(), head.first_word)) [[unlikely]]
    head = encode_head(header, cells_.cell());
  const BodyWay way = shm_body_way(head.bytes, header.length);
  if (way != BodyWay::after_cell) return put_whole(header, head, way, body);
  // An offered body is lent, not taken: that is a matter for send().
  if (header.length > kByteRingBytes || offers_.stands() || can_offer(header.length)) return false;
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
  transmission.way = TraceBody::none;
  queue_.push(transmission);
  return first;
}

bool ShmOutbound::replace(const Transmission& transmission, Transmission& instead) {
  const bool first = queue_.front() == &transmission;
  if (first && first_ == First::streaming) return false;
  if (first && first_ != First::undecided) first_becomes(First::undecided);
  return queue_.replace(transmission, instead);  // one whose body is on offer is not in the queue
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

// What became of the bodies on offer. A stop is not looked at while an offer stands: the receiver may be reading, and
// whether it wants the body it says itself. Nor is a body cut that goes through the byte ring after all: behind its
// cell there may be others.
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
        oldest.way = TraceBody::ring_instead;
      }
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

// Decided at the first long body, so that a start-up and short messages pay nothing. False while the peer is not here.
bool ShmOutbound::choose() {
  if (long_method_ != LongMethod::ring && read_published(peer_->pid) == 0) return false;
  choice_ = choose_long_method(long_method_, *mine_, *peer_);
  MARGAY_ASSERT(choice_.made());
  return choice_.reads;
}

bool ShmOutbound::can_offer(std::uint64_t length) {
  return length >= kReadBodyMinBytes && (choice_.made() ? choice_.reads : choose());
}

// Once for each body: the chooser counts.
bool ShmOutbound::wants_offer(const Transmission& transmission) {
  const std::uint64_t length = transmission.header.length;
  if (transmission.stop_asked || !can_offer(length)) return false;
  if (!choice_.measured || away_) return true;
  return transmission.cursor.peek(length).bytes >= kOfferPieceBytes && chooser_.reading(length, offers_.preferences());
}

// False: too many pieces.
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

// The table of pieces stays as it is until the answer. False: this body cannot be offered. Requires: room for an offer
// and its cell.
bool ShmOutbound::offer(Transmission& transmission) {
  std::byte* const cell = cells_.cell();
  const EncodedHead head = encode_head(transmission.header, cell, true);
  Offered& next = offered(offers_.next());
  if (head.bytes > kOfferHeadMaxBytes || !make_table(transmission, next.table)) return false;
  const std::byte* const what =
      next.table.size() == 1 ? next.table[0].base : reinterpret_cast<const std::byte*>(next.table.data());
  const ReadOffer told{reinterpret_cast<std::uintptr_t>(what), next.table.size()};
  std::memcpy(cell + head.bytes, &told, sizeof told);
  next.transmission = &transmission;
  transmission.way = TraceBody::read;
  offers_.offer();
  publish(head.first_word);
  return true;
}

// While the receiver reads a body from its beginning, we write it from its end. One chunk, then the answer is looked
// for again.
bool ShmOutbound::help() {
  const std::vector<portals::Buffer>& table = offered(offers_.oldest()).table;
  return table.size() == 1 && direct_writer_.help(offers_.oldest(), {table[0].base, table[0].bytes});
}

// The first in the queue. False: it has to wait.
bool ShmOutbound::begin(TransmissionList& finished) {
  if (!cells_.has_room()) return false;
  Transmission& first = *queue_.front();
  if (first_ == First::undecided) first_becomes(wants_offer(first) ? First::to_offer : First::to_send);
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
  const BodyWay way = shm_body_way(head.bytes, first.header.length);
  if (way == BodyWay::after_cell) {
    if (offers_.stands()) return false;
    publish(head.first_word);
    first.way = told(way);
    first_becomes(First::streaming);
    return true;
  }
  if (!put_whole(first.header, head, way, first.body)) return false;
  first.way = told(way);
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

// The receiver finds this cell where the next message's would be, and learns from it where the body ends.
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
