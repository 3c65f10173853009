// The receiving side of one channel of the shared memory wire. shm_body.hpp describes the places of a body. A body is
// "on offer" if the receiver may read it out of the sender's memory. The states of a channel:
//
//   state                event                                           next
//   between              look() found a message                          offered
//   offered              consume()                                       between
//   offered              hold()                                          held
//   offered              accept(), the body is on offer                  reading
//   offered              accept(), the body follows its cell             receiving
//   offered              refuse(), the body is on offer                  between
//   offered              refuse(), the body follows its cell             passing
//   held                 release_held()                                  between
//   reading              the sender's memory cannot be read              receiving
//   reading, receiving   all of the body is here, or it is cut           between
//   passing              all of the body has passed, or it is cut        between
//   between, passing     the peer is lost, or breaks the protocol        losing
//   reading, receiving   the peer is lost, or breaks the protocol        losing_body
//   losing_body          look() reported the end of the body             losing
//   losing               look() reported the loss                        lost
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "portals/base/assert.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "sim/shm/read_offer.hpp"
#include "sim/wire/frame.hpp"
#include "sim/wire/shm/body_methods.hpp"
#include "sim/wire/shm/direct_body.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_body.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// One channel's receiver. Used under the process lock; reports events to ShmWire, which owns it.
class ShmInbound {
 public:
  // `sender`: the area of the sending rank, whose bell is rung when credit has been returned. `registered`: the result
  // of this process's register_node_barrier(), which that bell needs. `source` and `destination` go into every header,
  // and `source.rank` into every arrival. `body_moved` is set whenever bytes of a body have been received. `clock`
  // measures the time of copying.
  ShmInbound(ChannelData& channel, RankArea& sender, bool registered, portals::ProcessId source,
             portals::ProcessId destination, bool& body_moved, const Clock& clock);

  // Continues the channel of an earlier process in this one's place, which is at rest (is_at_rest). `received`: the
  // messages that the earlier processes have answered.
  void resume(std::uint64_t received) {
    cells_.resume();
    bytes_.resume();
    offers_.resume();
    sequence_ = received;
  }
  // Fills in the next event of this channel; false: there is none now. Also receives more bytes of an arriving body.
  [[nodiscard, gnu::always_inline]] bool look(Arrival& arrival) {
    if (state_ == State::between) [[likely]]
      return look_for_cell(arrival);
    return look_on(arrival);
  }

  // Answers to the message that look() returned; see Wire.
  void consume() {
    MARGAY_ASSERT(state_ == State::offered && !comes_later());
    bool visible = cells_.release();
    if (method_ == BodyMethod::before_cell) {
      visible |= bytes_.release_later(static_cast<std::size_t>(length_));
      if (cells_.has_next()) bytes_.fetch(static_cast<std::size_t>(length_));
    }
    ++sequence_;
    MARGAY_DEBUG_ASSERT(may_follow(state_, State::between));
    state_ = State::between;
    if (visible) sender_bell_.ring_if_sleeping();
  }
  void hold();
  // `help_expected`: the sender will probably write a part of a body on offer (DirectReader::begin).
  void accept(const portals::Region& landing, void* cookie, bool help_expected);
  void refuse();
  // Makes a held message visible again. Returns whether there was one.
  bool release_held();
  // Ends the channel. look() still returns cut, if an accepted body is incomplete, and then lost; or left instead of
  // lost, if the sender `had_left`.
  void lose(std::string_view reason, bool had_left = false);

  // See Wire::body_report().
  [[nodiscard]] BodyReport body_report() const;

  // Whether everything that the sender published has been taken. Requires: the sender publishes nothing more.
  [[nodiscard]] bool exhausted();
  // Whether a body is being read out of the sender's memory.
  [[nodiscard]] bool reading() const { return state_ == State::reading; }
  // Whether the channel has ended, or its end is being reported.
  [[nodiscard]] bool lost() const {
    return state_ == State::losing_body || state_ == State::losing || state_ == State::lost;
  }

 private:
  // The states of the table at the top of this file.
  enum class State : std::uint8_t {
    // Looks for the next cell.
    between,
    // look() returned a whole or started message, which must be answered.
    offered,
    // Not polled until release_held().
    held,
    // An accepted body is being read out of the sender's memory.
    reading,
    // An accepted body is arriving through the byte ring.
    receiving,
    // A refused body is arriving through the byte ring, and is discarded.
    passing,
    // The cut of an accepted body is to be reported, and then the loss.
    losing_body,
    // The loss is to be reported.
    losing,
    lost,
  };
  // The table of states as a predicate, which is asserted at each transition.
  [[nodiscard]] static constexpr bool may_follow(State from, State to) {
    switch (from) {
      case State::between:
        return to == State::offered || to == State::losing;
      case State::offered:
        return to == State::between || to == State::held || to == State::reading || to == State::receiving ||
               to == State::passing;
      case State::held:
        return to == State::between;
      case State::reading:
        return to == State::between || to == State::receiving || to == State::losing_body;
      case State::receiving:
        return to == State::between || to == State::losing_body;
      case State::passing:
        return to == State::between || to == State::losing;
      case State::losing_body:
        return to == State::losing;
      case State::losing:
        return to == State::lost;
      case State::lost:
        return false;
    }
    return false;
  }
  // Changes the state. The two transitions of a short message, offer() and consume(), set the state directly and check
  // the transition in debug builds only.
  void become(State next) {
    MARGAY_ASSERT(may_follow(state_, next));
    state_ = next;
  }
  // The position at which the arriving body ends.
  enum class BodyEnd : std::uint8_t {
    at_length,
    // Before its length, at the offset that the sender's cut contains.
    cut,
    // The sender's cut contains an offset at which the body cannot end.
    bad_cut,
  };
  // The carrier of a body that was offered for reading.
  enum class Carrier : std::uint8_t {
    // reader_.
    by_pieces,
    // direct_reader_: the body and its landing are one piece each.
    direct,
    // The body could not be read, so the sender sends it through the byte ring.
    byte_ring,
  };

  // Whether the offered message is a `started` one, whose body follows its answer.
  [[nodiscard]] bool comes_later() const {
    return method_ == BodyMethod::after_cell || method_ == BodyMethod::by_reading;
  }
  // Whether the body in the byte ring was offered for reading before. Such a body is never cut. A cell after it does
  // not prove that the whole body is in the ring, because the sender publishes cells while a body is on offer.
  [[nodiscard]] bool fell_back() const { return method_ == BodyMethod::by_reading; }
  // The steps of look(), by state; the result is whether the step filled in `arrival`, which offer() always does.
  bool look_for_cell(Arrival& arrival);
  [[gnu::noinline]] bool look_at_long_head(std::array<std::uint64_t, 8>& copy, Arrival& arrival);
  void offer(std::size_t head_bytes, Arrival& arrival);
  [[gnu::noinline]] void offer_before_cell(Arrival& arrival);
  [[gnu::noinline]] bool look_on(Arrival& arrival);
  // States receiving and passing: takes bytes of the body, and detects its end or its cut.
  bool look_for_body(Arrival& arrival);
  // If the next cell is a cut, shortens the arriving body.
  void notice_cut();
  bool look_for_message(Arrival& arrival);
  // States losing_body and losing: returns one event in each call.
  bool report_loss(Arrival& arrival);
  // Ends the channel, because the sender broke the protocol; `reason` is the end of a sentence, static.
  bool malformed(std::string_view reason, Arrival& arrival);
  // Returns kept credit to the sender.
  void settle();
  // Takes the bytes of the arriving body that are in the byte ring, at most one poll's share.
  void move_body();
  // The steps of a body on offer: begin, read, answer, or fall back to the ring. begin_reading() takes the offer and
  // reads the first poll's share.
  void begin_reading(bool help_expected);
  void read_body();
  [[nodiscard]] ReadFault read_some(std::uint64_t now_ns, std::uint64_t& moved);
  void answer_offer(ReadAnswer answer);
  // Begins to measure a body, if it is long enough.
  void time_body();
  // Asks the sender to send the body through the byte ring.
  void fall_back(ReadAnswer answer);
  // State reading: reads one poll's share, and detects the end of the body.
  bool look_for_read(Arrival& arrival);
  // Ends an arriving body. The end of an accepted body is an event. The end of a refused body is not an event, so the
  // poll continues and may find another one.
  bool end_body(Arrival::Kind kind, Arrival& arrival);

  // The consumer's roles for cells, for bytes of the ring and for offers. All three publish in the consumer's cache
  // line.
  CellConsumer cells_;
  ByteConsumer bytes_;
  OfferConsumer offers_;
  const RankArea* sender_;
  BellRinger sender_bell_;
  portals::ProcessId source_;
  portals::ProcessId destination_;
  bool* body_moved_;
  State state_ = State::between;
  // The method of the offered or arriving message's body.
  BodyMethod method_ = BodyMethod::in_cell;
  // Number of the last answered message.
  std::uint64_t sequence_ = 0;
  // Length of the offered or arriving message's body, and the number of its bytes that have not arrived.
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0;
  BodyEnd end_ = BodyEnd::at_length;
  Carrier carrier_ = Carrier::by_pieces;
  // Flags that are independent of the state. tested_: a test has shown that the sender's memory can be read.
  bool tested_ = false;
  // The arriving body is being measured.
  bool timed_ = false;
  BodyTimes times_;
  // by_reading: the offer in the message's cell.
  ReadOffer offer_;
  // The fault of the body that is being read. The next poll ends the channel because of it.
  ReadFault fault_ = ReadFault::none;
  // The two carriers of a body on offer. At most one of them is in use.
  BodyReader reader_;
  DirectReader direct_reader_;
  // The landing of the body that is being read, kept because the body may have to arrive through the ring.
  portals::Region whole_landing_;
  portals::RegionCursor landing_;
  // accept()'s cookie.
  void* cookie_ = nullptr;
  // The pieces of a whole body in the byte ring; two if the body wraps around the ring's end.
  std::array<portals::Buffer, 2> pieces_{};
  // The reason and kind of the loss that is to be reported.
  std::string_view loss_;
  Arrival::Kind loss_kind_ = Arrival::Kind::lost;
  const Clock* clock_;
};

// Inline, because every poll and every short message passes here.
[[gnu::always_inline]] inline bool ShmInbound::look_for_cell(Arrival& arrival) {
  std::array<std::uint64_t, 8> copy;
  if (!cells_.peek(copy[0])) {
    settle();
    return false;
  }
  // The head is copied before it is checked, because the sender could change the cell after the check.
  std::memcpy(&copy[1], cells_.cell() + 8, 8);
  if (!decode_plain_head(copy[0], copy[1], arrival.header)) [[unlikely]]
    return look_at_long_head(copy, arrival);
  length_ = arrival.header.length;
  method_ = shm_body_method(kFrameHeadMinBytes, length_);
  offer(kFrameHeadMinBytes, arrival);
  return true;
}

// Completes an arrival whose header has been decoded in place.
inline void ShmInbound::offer(std::size_t head_bytes, Arrival& arrival) {
  arrival.kind = comes_later() ? Arrival::Kind::started : Arrival::Kind::whole;
  arrival.peer = source_.rank;
  arrival.sequence = sequence_ + 1;
  arrival.header.source = source_;
  arrival.header.destination = destination_;
  MARGAY_DEBUG_ASSERT(may_follow(state_, State::offered));
  state_ = State::offered;
  if (method_ == BodyMethod::in_cell) [[likely]] {
    arrival.body = portals::Region(cells_.cell() + head_bytes, static_cast<std::size_t>(length_));
  } else if (method_ == BodyMethod::before_cell) {
    offer_before_cell(arrival);
  } else {
    arrival.body = portals::Region();
  }
}

// Returns all credit that was kept back. Called when the channel is drained or held, because nothing more is taken for
// now, and the sender may be waiting for that credit.
inline void ShmInbound::settle() {
  const bool cells = cells_.settle();
  if (bytes_.settle() || cells) [[unlikely]]
    sender_bell_.ring_if_sleeping();
}

}  // namespace margay::sim
