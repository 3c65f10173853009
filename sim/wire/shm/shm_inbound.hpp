// The receiving side of one channel of the shared memory wire (shm_body.hpp says how bodies travel).
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
#include "sim/wire/shm/body_ways.hpp"
#include "sim/wire/shm/direct_body.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_body.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class ShmInbound {
 public:
  // `sender` is the other side's area: its bell is rung when credit was returned. `source` and `destination` go into
  // every header, `peer` into every arrival. `body_moved` is set whenever bytes of a body were taken. `clock`
  // measures how long copying takes.
  ShmInbound(ChannelData& channel, RankArea& sender, bool registered, portals::ProcessId source,
             portals::ProcessId destination, bool& body_moved, const Clock& clock);

  // The next thing that happened on this channel; moves an accepted body along. false: nothing now.
  [[nodiscard, gnu::always_inline]] bool look(Arrival& arrival) {
    if (state_ == State::between) [[likely]]
      return look_for_cell(arrival);
    return look_on(arrival);
  }

  // Answers to what look() gave; see Wire.
  void consume() {
    MARGAY_ASSERT(state_ == State::offered && !comes_later());
    bool told = cells_.release();
    if (way_ == BodyWay::before_cell) {
      told |= bytes_.release_later(static_cast<std::size_t>(length_));
      if (cells_.has_next()) bytes_.fetch(static_cast<std::size_t>(length_));
    }
    ++sequence_;
    MARGAY_DEBUG_ASSERT(may_follow(state_, State::between));
    state_ = State::between;
    if (told) sender_bell_.ring_if_sleeping();
  }
  void hold();
  // `help_expected`: the sender has nothing to read itself, as far as we know.
  void accept(const portals::Region& landing, void* cookie, bool help_expected);
  void refuse();
  // A held message may be seen again. Returns whether there was one.
  bool release_held();
  // Nothing more is taken from this channel; look() still gives cut (when a body was half here) and then lost; left,
  // if the sender `had_left`.
  void lose(std::string_view reason, bool had_left = false);

  // See Wire.
  [[nodiscard]] BodyTold body_came() const;

  // The sender publishes nothing more: whether all that can still be had of it has been taken.
  [[nodiscard]] bool exhausted();
  [[nodiscard]] bool reading() const { return state_ == State::reading; }
  [[nodiscard]] bool lost() const {
    return state_ == State::losing_body || state_ == State::losing || state_ == State::lost;
  }

 private:
  enum class State : std::uint8_t {
    between,      // looks for the next cell
    offered,      // look() gave a whole or started message: an answer must come
    held,         // not looked at until release_held()
    reading,      // an accepted body is being read out of the sender's memory
    receiving,    // an accepted body is coming through the byte ring
    passing,      // a refused body is coming through the byte ring
    losing_body,  // the end of an accepted body is to be reported, then the loss
    losing,       // the loss is to be reported
    lost,
  };
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
  // Not for offered, and between after it: those two steps are on the way of a short message, which takes them without
  // a check in a release build.
  void become(State next) {
    MARGAY_ASSERT(may_follow(state_, next));
    state_ = next;
  }
  // Where the coming body ends.
  enum class BodyEnd : std::uint8_t {
    at_length,
    cut,      // before: the sender said where
    bad_cut,  // where the sender said, which cannot be
  };
  // How a body that was on offer is carried.
  enum class Carrier : std::uint8_t {
    by_pieces,  // reader_
    direct,     // direct_reader_: the body and its landing are one piece each
    byte_ring,  // it could not be read
  };

  // The offered message is `started`: its body comes after the answer.
  [[nodiscard]] bool comes_later() const { return way_ == BodyWay::after_cell || way_ == BodyWay::by_reading; }
  // A body that was offered comes through the byte ring after all: whole, and behind it may be cells that were
  // published before.
  [[nodiscard]] bool fell_back() const { return way_ == BodyWay::by_reading; }
  bool look_for_cell(Arrival& arrival);
  [[gnu::noinline]] bool look_at_long_head(std::array<std::uint64_t, 8>& copy, Arrival& arrival);
  void offer(std::size_t head_bytes, Arrival& arrival);
  [[gnu::noinline]] void offer_before_cell(Arrival& arrival);
  [[gnu::noinline]] bool look_on(Arrival& arrival);
  bool look_for_body(Arrival& arrival);
  void notice_cut();
  bool look_for_message(Arrival& arrival);
  bool tell_loss(Arrival& arrival);
  bool malformed(std::string_view reason, Arrival& arrival);
  void settle();
  void move_body();
  void begin_reading(bool help_expected);
  void read_body();
  [[nodiscard]] ReadFault read_some(std::uint64_t now_ns, std::uint64_t& moved);
  void answer_offer(ReadAnswer answer);
  void time_body();
  void fall_back(ReadAnswer answer);
  bool look_for_read(Arrival& arrival);
  bool end_body(Arrival::Kind kind, Arrival& arrival);

  CellConsumer cells_;
  ByteConsumer bytes_;
  OfferConsumer offers_;
  const RankArea* sender_;
  BellRinger sender_bell_;
  portals::ProcessId source_;
  portals::ProcessId destination_;
  bool* body_moved_;
  State state_ = State::between;
  BodyWay way_ = BodyWay::in_cell;  // of the offered message
  std::uint64_t sequence_ = 0;      // of the last answered message
  std::uint64_t length_ = 0;        // of the offered or coming body
  std::uint64_t left_ = 0;          // of the coming body
  BodyEnd end_ = BodyEnd::at_length;
  Carrier carrier_ = Carrier::by_pieces;
  // Facts, no states:
  bool tested_ = false;  // the sender's memory can be read
  bool timed_ = false;   // the coming body is being measured
  BodyTimes times_;
  ReadOffer offer_;                    // by_reading: what the offered message's cell says of its body
  ReadFault fault_ = ReadFault::none;  // of the body being read: the sender is to be lost
  BodyReader reader_;
  DirectReader direct_reader_;
  portals::Region whole_landing_;  // of the body being read, should it have to come again
  portals::RegionCursor landing_;
  void* cookie_ = nullptr;
  std::array<portals::Buffer, 2> pieces_{};  // of a whole body around the ring's end
  std::string_view loss_;
  Arrival::Kind loss_kind_ = Arrival::Kind::lost;
  const Clock* clock_;
};

// Inline: every look and every short message comes through here.
[[gnu::always_inline]] inline bool ShmInbound::look_for_cell(Arrival& arrival) {
  std::array<std::uint64_t, 8> copy;
  if (!cells_.peek(copy[0])) {
    settle();
    return false;
  }
  std::memcpy(&copy[1], cells_.cell() + 8, 8);
  if (!decode_plain_head(copy[0], copy[1], arrival.header)) [[unlikely]]
    return look_at_long_head(copy, arrival);
  length_ = arrival.header.length;
  way_ = shm_body_way(kFrameHeadMinBytes, length_);
  offer(kFrameHeadMinBytes, arrival);
  return true;
}

// The header is in the arrival already.
inline void ShmInbound::offer(std::size_t head_bytes, Arrival& arrival) {
  arrival.kind = comes_later() ? Arrival::Kind::started : Arrival::Kind::whole;
  arrival.peer = source_.rank;
  arrival.sequence = sequence_ + 1;
  arrival.header.source = source_;
  arrival.header.destination = destination_;
  MARGAY_DEBUG_ASSERT(may_follow(state_, State::offered));
  state_ = State::offered;
  if (way_ == BodyWay::in_cell) [[likely]] {
    arrival.body = portals::Region(cells_.cell() + head_bytes, static_cast<std::size_t>(length_));
  } else if (way_ == BodyWay::before_cell) {
    offer_before_cell(arrival);
  } else {
    arrival.body = portals::Region();
  }
}

// Nothing more is taken for now: all credit that was kept back goes to the sender.
inline void ShmInbound::settle() {
  const bool cells = cells_.settle();
  if (bytes_.settle() || cells) [[unlikely]]
    sender_bell_.ring_if_sleeping();
}

}  // namespace margay::sim
