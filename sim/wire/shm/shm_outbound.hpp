// The sending side of one channel of the shared memory wire: cells for headers and small bodies, the byte ring for
// other bodies. shm_body.hpp describes the places of a body. Messages leave one after the other: the next cell is
// published when the body before it is completely in the ring, or is cut. A body on offer blocks only later messages
// whose bodies need the byte ring, because a body on offer that the receiver cannot read goes through the ring, before
// the later bodies.
//
// Two state machines describe the channel. `First`, the state of the first message in the queue:
//
//   state                  event                                              next
//   undecided              its body is to be offered for reading              to_offer
//   undecided              its body goes with its cell or the byte ring       to_send
//   to_offer               offered: it leaves the queue                       undecided
//   to_offer               its pieces cannot be offered                       to_send
//   to_send                its cell is published, the body follows it         streaming
//   to_send                its cell and its body are published: it leaves     undecided
//   streaming              all of its body is in the ring, or it is cut       undecided
//   to_offer, to_send      another message replaces it                        undecided
//   any                    the peer is lost                                   lost
//
// `Oldest`, the state of the oldest body on offer, while an offer stands:
//
//   awaits_answer          the receiver has finished it: it ends              awaits_answer (the next one)
//   awaits_answer          the receiver cannot read it                        through_ring
//   through_ring           all of it is in the byte ring: it ends             awaits_answer (the next one)
//   any                    the peer is lost: all end                          awaits_answer
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "sim/shm/read_offer.hpp"
#include "sim/wire/frame.hpp"
#include "sim/wire/shm/body_methods.hpp"
#include "sim/wire/shm/direct_body.hpp"
#include "sim/wire/shm/long_method.hpp"
#include "sim/wire/shm/shm_body.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// One channel's sender. Used under the process lock; ShmWire owns it.
class ShmOutbound {
 public:
  // `mine`: the sender's area. `peer`: the receiver's area. `my_local_rank`: the index of the sender's flag in the
  // receiver's area. `registered`: the result of this process's register_node_barrier(), which the receiver's bell
  // needs. `clock` measures the age of proofs (DirectWriter).
  ShmOutbound(ChannelData& channel, const RankArea& mine, RankArea& peer, std::uint32_t my_local_rank, bool registered,
              LongMethod long_method, const Clock& clock);

  // As Wire::try_send(). false: the caller must queue() the message.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body);
  // Continues the channel of an earlier process in this one's place, which is at rest (is_at_rest).
  void resume() {
    cells_.resume();
    bytes_.resume();
    offers_.resume();
    opened_ = true;
  }
  // Queues a transmission behind the earlier ones; advance() sends it. Returns whether it is the first in the queue.
  bool queue(Transmission& transmission);
  // Sends queued transmissions as far as there is room. Finished ones go to `finished`. Returns whether anything moved.
  // `may_help`: the owner is idle and may copy a part of a body that the receiver reads.
  bool advance(TransmissionList& finished, bool may_help);
  // As Wire::stop(); advance() carries it out.
  void stop(Transmission& transmission) { transmission.stop_asked = true; }
  // See Wire::replace().
  [[nodiscard]] bool replace(const Transmission& transmission, Transmission& instead);
  // The peer is lost: all transmissions that are queued or on offer fail.
  void fail(TransmissionList& finished);

  // `away`: the owner computes, so long bodies are offered for reading if possible. A body that is read needs no turn
  // of this process; a body that goes through the ring needs a turn for each 128 KiB.
  void owner_away(bool away) { away_ = away; }
  // See ShmWire::keep_lines.
  void keep_lines() { moves_lines_ = false; }
  // Records that the peer sent something: it has probably received everything that this side sent, and waits for an
  // answer.
  void record_arrival() { peer_has_sent_ = true; }

  // Whether nothing is queued or on offer.
  [[nodiscard]] bool idle() const { return queue_.empty() && !offers_.stands(); }
  [[nodiscard]] bool lost() const { return first_ == First::lost; }
  // Whether a body is on offer, by the answers that this side has seen.
  [[nodiscard]] bool offers() const { return offers_.stands(); }
  // Grows while the peer reads bodies on offer; see Wire::bodies_read_on.
  [[nodiscard]] std::uint64_t read_on() const { return offers_.read_on(); }
  // The method of long bodies, with the reason of the choice. Before the first long body, its made() is false.
  [[nodiscard]] const LongChoice& long_choice() const { return choice_; }
  // The receiver's bell.
  [[nodiscard]] BellRinger& bell() { return bell_; }

 private:
  // The states of the tables at the top of this file.
  enum class First : std::uint8_t {
    // Nothing is queued, or the method of the first message's body has not been chosen.
    undecided,
    // The message waits for room for its offer and its cell.
    to_offer,
    // The message waits for room for its cell, and for its body if the body precedes the cell.
    to_send,
    // Its cell is published, and its body is going into the ring.
    streaming,
    // The peer is lost: nothing is queued, and nothing will be.
    lost,
  };
  enum class Oldest : std::uint8_t { awaits_answer, through_ring };
  // The first table as a predicate, which first_becomes() asserts at each transition.
  [[nodiscard]] static constexpr bool may_follow(First from, First to) {
    if (to == First::lost) return true;
    switch (from) {
      case First::undecided:
        return to == First::to_offer || to == First::to_send;
      case First::to_offer:
        return to == First::undecided || to == First::to_send;
      case First::to_send:
        return to == First::undecided || to == First::streaming;
      case First::streaming:
        return to == First::undecided;
      case First::lost:
        return false;
    }
    return false;
  }
  void first_becomes(First next) {
    MARGAY_ASSERT(may_follow(first_, next));
    first_ = next;
  }

  // A message whose body is offered.
  struct Offered {
    Transmission* transmission = nullptr;
    // The body's pieces. If there are several, the receiver reads this table.
    std::vector<portals::Buffer> table;
  };
  [[nodiscard]] Offered& offered(std::uint64_t number) { return offered_[number % kOffersMost]; }

  // Publishes a cell. At the first cell, also sets this rank's flag at the receiver.
  void publish(std::uint64_t first_word);
  void put_body(portals::RegionCursor& body, std::size_t count);
  // Gives the processor hints about the cache lines of the body just sent and of the next body.
  void hint_caches(std::size_t count);
  [[nodiscard]] bool put_whole(const portals::Header& header, const EncodedHead& head, BodyMethod method,
                               const portals::Region& body);
  // The steps of advance(). advance_offers() is the first step, because bodies on offer precede queued messages in the
  // ring.
  bool advance_offers(TransmissionList& finished);
  // Begins the first message of the queue: offers its body, or publishes its cell. A message whose body does not follow
  // its cell leaves the queue at once. False: the message has to wait for room, or for the bodies on offer before it.
  bool begin(TransmissionList& finished);
  // The choice between an offer and the ring. can_offer(): whether bodies of this length can be offered.
  // should_offer(): whether this body is to be offered.
  bool can_offer(std::uint64_t length);
  bool should_offer(const Transmission& transmission);
  // Chooses the method of long bodies, and returns whether bodies are offered for reading. While the peer has not
  // started, makes no choice and returns false.
  bool choose();
  // make_table() lists the pieces of a body, for an offer; false: there are too many. offer() offers a body; false: it
  // cannot be offered. help() copies a part of the oldest body on offer; returns whether it did.
  bool make_table(const Transmission& transmission, std::vector<portals::Buffer>& table);
  bool offer(Transmission& transmission);
  bool help();
  // Puts as much of a body into the ring as there is room for. Returns whether any byte moved.
  bool stream(Transmission& transmission);
  // Cuts a stopped body. False: there is no room for the cell.
  bool cut(Transmission& transmission);
  // Moves the first queued message, or the oldest message on offer, to the list of finished ones.
  void finish_first(TransmissionList& finished);
  void end_offer(Transmission::State state, TransmissionList& finished);

  // The channel's roles on this side.
  CellProducer cells_;
  ByteProducer bytes_;
  OfferProducer offers_;
  BellRinger bell_;
  const RankArea* mine_;
  RankArea* peer_;
  std::uint32_t my_local_rank_;
  First first_ = First::undecided;
  Oldest oldest_ = Oldest::awaits_answer;
  // Flags that are independent of the states. opened_: this rank's flag in the peer's area is set.
  bool opened_ = false;
  // The owner of this process computes.
  bool away_ = false;
  // The peer has a processor of its own, so cache lines are moved towards it (cache_hints.hpp).
  bool moves_lines_ = true;
  // The peer sent something since this side last put a body into the byte ring.
  bool peer_has_sent_ = false;
  DirectWriter direct_writer_;
  LongMethod long_method_;
  LongChoice choice_;
  // If choice_ is `measured`, chooses the method of each body by the receiver's measurements.
  BodyMethodChooser chooser_;
  // The offers that stand, by number.
  std::array<Offered, kOffersMost> offered_;
  TransmissionList queue_;
};

}  // namespace margay::sim
