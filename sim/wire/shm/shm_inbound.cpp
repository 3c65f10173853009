#include "sim/wire/shm/shm_inbound.hpp"

#include <algorithm>
#include <cstring>

#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"

namespace margay::sim {
namespace {

using portals::Region;
using portals::RegionCursor;

// The most bytes that are copied before their credit is returned. The bound lets the sender copy at the same time as
// this side.
constexpr std::size_t kReleaseBytes = std::size_t{16} * 1024;
// The most bytes of one body that one poll takes. The bound keeps a stream from delaying other peers.
constexpr std::uint64_t kVisitBytes = std::uint64_t{256} * 1024;
// The same for a body that is read out of the sender's memory. More, because each poll costs at least one system call.
constexpr std::uint64_t kVisitReadBytes = std::uint64_t{512} * 1024;

}  // namespace

ShmInbound::ShmInbound(ChannelData& channel, RankArea& sender, bool registered, portals::ProcessId source,
                       portals::ProcessId destination, bool& body_moved, const Clock& clock)
    : cells_(channel.cells, channel.consumer),
      bytes_(channel.bytes, channel.producer, channel.consumer),
      offers_(channel.consumer),
      sender_(&sender),
      sender_bell_(sender.bell, registered),
      source_(source),
      destination_(destination),
      body_moved_(&body_moved),
      direct_reader_(channel, sender),
      clock_(&clock) {}

bool ShmInbound::look_on(Arrival& arrival) {
  if (state_ == State::receiving || state_ == State::passing) return look_for_body(arrival);
  MARGAY_ASSERT(state_ != State::offered);
  if (state_ == State::reading) return look_for_read(arrival);
  return (state_ == State::losing_body || state_ == State::losing) && report_loss(arrival);
}

// Decodes a head with groups into the arrival. Decodes a copy, because the sender could change the cell after the
// check.
bool ShmInbound::look_at_long_head(std::array<std::uint64_t, 8>& copy, Arrival& arrival) {
  std::memcpy(&copy[2], cells_.cell() + 16, kCacheLineBytes - 16);
  DecodedHead head;
  const DecodeResult result = decode_head(std::as_bytes(std::span(copy)), arrival.header, head, true);
  if (result.verdict != Decode::ok) return malformed(result.reason, arrival);
  if (head.type != FrameType::message) return malformed("a control frame between messages", arrival);
  length_ = arrival.header.length;
  method_ = head.read_body ? BodyMethod::by_reading : shm_body_method(head.bytes, length_);
  if (head.read_body) {
    if (head.bytes > kOfferHeadMaxBytes) return malformed("no room for the offer of its body", arrival);
    std::memcpy(&offer_, std::as_bytes(std::span(copy)).data() + head.bytes, sizeof offer_);
  }
  offer(head.bytes, arrival);
  return true;
}

void ShmInbound::offer_before_cell(Arrival& arrival) {
  const auto count = static_cast<std::size_t>(length_);
  bytes_.expect(count);
  const ByteConsumer::Pieces pieces = bytes_.peek(count);
  pieces_ = {portals::Buffer{pieces.first.data(), pieces.first.size()},
             portals::Buffer{pieces.second.data(), pieces.second.size()}};
  arrival.body = pieces.second.empty() ? Region(pieces_[0]) : Region(std::span<const portals::Buffer>(pieces_));
}

void ShmInbound::hold() {
  // Returns kept credit, because nothing more is taken from this channel until release_held().
  become(State::held);
  settle();
}

void ShmInbound::accept(const Region& landing, void* cookie, bool help_expected) {
  MARGAY_ASSERT(state_ == State::offered && comes_later() && landing.bytes() <= length_);
  landing_ = RegionCursor(landing);
  cookie_ = cookie;
  left_ = length_;
  end_ = BodyEnd::at_length;
  // The cell has been copied, so it is released; only the body is still to come.
  static_cast<void>(cells_.release());
  ++sequence_;
  time_body();
  if (method_ == BodyMethod::by_reading) {
    whole_landing_ = landing;
    begin_reading(help_expected);
    return;
  }
  become(State::receiving);
  move_body();
}

void ShmInbound::refuse() {
  MARGAY_ASSERT(state_ == State::offered && comes_later());
  left_ = length_;
  end_ = BodyEnd::at_length;
  static_cast<void>(cells_.release());
  ++sequence_;
  // The answer `over` goes out at once, because nothing will be read and the sender may reuse the memory.
  if (method_ == BodyMethod::by_reading) {
    offers_.take();
    become(State::between);
    answer_offer(ReadAnswer::over);
    return;
  }
  become(State::passing);
  move_body();
}

// Only long bodies are measured, and only if all of their bytes land.
void ShmInbound::time_body() {
  timed_ = length_ >= kReadBodyMinBytes && landing_.left() == length_;
  if (timed_) times_.begin(length_, method_ == BodyMethod::by_reading);
}

bool ShmInbound::release_held() {
  if (state_ != State::held) return false;
  become(State::between);
  return true;
}

// Begins a body on offer. Before the first body of this sender, this side tests whether it can read the sender's
// memory, because the sender could only test the other direction.
void ShmInbound::begin_reading(bool help_expected) {
  const std::uint64_t number = offers_.take();
  // Of a truncated body, only the part that lands is read, and without the sender's help, because the sender writes
  // from the end of the body, which does not land.
  left_ = whole_landing_.bytes();
  const bool direct = offer_.count == 1 && whole_landing_.contiguous() && left_ == length_;
  carrier_ = direct ? Carrier::direct : Carrier::by_pieces;
  become(State::reading);
  if (!tested_ && try_reading(*sender_) != ReadFault::none) return fall_back(ReadAnswer::cannot);
  tested_ = true;
  if (direct) {
    const portals::Buffer landing = whole_landing_.single();
    direct_reader_.begin(number, offer_.address, {landing.base, landing.bytes}, help_expected);
  } else {
    fault_ = reader_.begin(*sender_, offer_, left_);
  }
  if (fault_ == ReadFault::none) read_body();
}

// Reads one poll's share. `moved`: the bytes that this side copied. Sets left_ to the remainder.
ReadFault ShmInbound::read_some(std::uint64_t now_ns, std::uint64_t& moved) {
  if (carrier_ == Carrier::direct) {
    const ReadFault fault = direct_reader_.step(kVisitReadBytes, now_ns, moved);
    if (fault == ReadFault::none && direct_reader_.finished()) left_ = 0;
    return fault;
  }
  for (std::uint64_t end = left_ - std::min(left_, kVisitReadBytes); left_ > end;) {
    const ReadFault fault = reader_.step(landing_, left_ - end);
    if (fault != ReadFault::none) return fault;
    moved += left_ - reader_.left();
    left_ = reader_.left();
  }
  return ReadFault::none;
}

void ShmInbound::read_body() {
  const std::uint64_t began_ns = clock_->now_ns();
  std::uint64_t moved = 0;
  const ReadFault fault = read_some(began_ns, moved);
  if (moved != 0) {
    times_.record_copy(moved, clock_->now_ns() - began_ns);
    *body_moved_ = true;
    // Shows the sender, which may be waiting for the end of this body, that the body progresses.
    if (left_ != 0) offers_.read_on();
  }
  if (fault == ReadFault::unreadable) return fall_back(ReadAnswer::cannot_now);
  if (fault == ReadFault::refused) return fall_back(ReadAnswer::cannot);
  if (fault != ReadFault::none) {
    fault_ = fault;
    return;
  }
  // The answer goes out at once, so that the sender continues. The next poll reports `finished`.
  if (left_ == 0) answer_offer(ReadAnswer::over);
}

void ShmInbound::answer_offer(ReadAnswer answer) {
  offers_.answer(answer);
  sender_bell_.ring_if_sleeping();
}

// The body could not be read, so the sender sends all of it through the byte ring. The body is not measured, because
// its time would include attempts by two methods.
void ShmInbound::fall_back(ReadAnswer answer) {
  if (carrier_ == Carrier::direct) direct_reader_.give_up();
  carrier_ = Carrier::byte_ring;
  landing_ = RegionCursor(whole_landing_);
  left_ = length_;
  become(State::receiving);
  timed_ = false;
  answer_offer(answer);
}

bool ShmInbound::look_for_read(Arrival& arrival) {
  if (fault_ == ReadFault::none && left_ != 0) read_body();
  if (fault_ != ReadFault::none) return malformed(fault_text(fault_), arrival);
  if (state_ == State::receiving) return look_for_body(arrival);
  return left_ == 0 && end_body(Arrival::Kind::finished, arrival);
}

// Takes as much of the arriving body as is here. Reads the byte ring's count first, and then looks for a cut. The
// sender publishes the cut of this body before the bytes of a later body. So if bytes of a later body are here, the cut
// is here too, and this function stops before those bytes.
void ShmInbound::move_body() {
  std::uint64_t moved = 0;
  const std::uint64_t began_ns = timed_ && bytes_.available() != 0 ? clock_->now_ns() : 0;
  while (left_ != 0 && moved < kVisitBytes) {
    const std::size_t here = bytes_.available();
    if (here == 0) break;
    notice_cut();
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>({here, left_, kReleaseBytes}));
    if (state_ == State::receiving) bytes_.read(landing_, std::min<std::uint64_t>(step, landing_.left()));
    bytes_.release(step);
    left_ -= step;
    moved += step;
  }
  if (began_ns != 0) times_.record_copy(moved, clock_->now_ns() - began_ns);
  if (moved == 0) return;
  *body_moved_ = true;
  sender_bell_.ring_if_sleeping();
}

// Reads the cut cell after the body, if there is one, and shortens left_ to the end that the cut contains.
void ShmInbound::notice_cut() {
  std::array<std::uint64_t, 2> copy;
  if (end_ != BodyEnd::at_length || fell_back() || !cells_.peek(copy[0])) return;
  std::memcpy(&copy[1], cells_.cell() + 8, 8);
  portals::Header header;
  DecodedHead head;
  const Decode verdict = decode_head(std::as_bytes(std::span(copy)), header, head).verdict;
  if (verdict != Decode::ok || head.type != FrameType::cut) return;
  const std::uint64_t taken = length_ - left_;
  end_ = head.argument > length_ || head.argument < taken ? BodyEnd::bad_cut : BodyEnd::cut;
  left_ = end_ == BodyEnd::bad_cut ? 0 : head.argument - taken;
}

bool ShmInbound::look_for_body(Arrival& arrival) {
  move_body();
  if (left_ != 0) notice_cut();
  if (left_ != 0) return end_ == BodyEnd::at_length && !fell_back() && look_for_message(arrival);
  if (end_ == BodyEnd::at_length) return end_body(Arrival::Kind::finished, arrival);
  if (end_ == BodyEnd::bad_cut) return malformed("a body cut where it cannot end", arrival);
  static_cast<void>(cells_.release());
  return end_body(Arrival::Kind::cut, arrival);
}

// Looks for the next message's cell after an unfinished body. The body's last bytes are published before that cell. So
// if that cell is here and the bytes are not, the sender breaks the protocol.
bool ShmInbound::look_for_message(Arrival& arrival) {
  std::uint64_t first_word = 0;
  if (!cells_.peek(first_word)) return false;
  // The cell may be the cut, which may have arrived just now.
  notice_cut();
  move_body();
  if (end_ != BodyEnd::at_length || left_ == 0) return look_for_body(arrival);
  return malformed("a message inside the body of another", arrival);
}

bool ShmInbound::end_body(Arrival::Kind kind, Arrival& arrival) {
  const bool accepted = state_ == State::receiving || state_ == State::reading;
  become(State::between);
  // The end of a refused body is not an event, so the poll continues.
  if (!accepted) return look(arrival);
  if (timed_ && kind == Arrival::Kind::finished && times_.end()) offers_.prefer(times_.preferences());
  arrival.kind = kind;
  arrival.peer = source_.rank;
  arrival.cookie = cookie_;
  return true;
}

BodyReport ShmInbound::body_report() const {
  if (method_ != BodyMethod::by_reading) return {trace_body(method_)};
  if (carrier_ == Carrier::byte_ring) return {TraceBody::ring_instead};
  return {TraceBody::read, carrier_ == Carrier::direct ? whole_landing_.bytes() - direct_reader_.read_bytes() : 0};
}

bool ShmInbound::malformed(std::string_view reason, Arrival& arrival) {
  lose(reason);
  return report_loss(arrival);
}

// A held or offered message does not count as taken, because it has not been answered. A body that is being read counts
// as taken, because it can be completed only while the sender's process exists.
bool ShmInbound::exhausted() {
  std::uint64_t first_word = 0;
  if (state_ == State::between) return !cells_.peek(first_word);
  if (state_ == State::receiving || state_ == State::passing) return left_ != 0 && bytes_.available() == 0;
  return state_ != State::offered && state_ != State::held;
}

void ShmInbound::lose(std::string_view reason, bool had_left) {
  if (lost()) return;
  if (state_ == State::reading && carrier_ == Carrier::direct) direct_reader_.give_up();
  // An accepted body must end before the loss is reported, because the wire may write its landing until that end.
  const bool accepted = state_ == State::receiving || state_ == State::reading;
  become(accepted ? State::losing_body : State::losing);
  loss_ = reason;
  loss_kind_ = had_left ? Arrival::Kind::left : Arrival::Kind::lost;
}

bool ShmInbound::report_loss(Arrival& arrival) {
  arrival.peer = source_.rank;
  // Two events, one per poll: the body's end, then the loss.
  if (state_ == State::losing_body) {
    become(State::losing);
    arrival.kind = Arrival::Kind::cut;
    arrival.cookie = cookie_;
    return true;
  }
  become(State::lost);
  arrival.kind = loss_kind_;
  arrival.loss = loss_;
  return true;
}

}  // namespace margay::sim
