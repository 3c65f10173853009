// A network of wires inside one process, with a clock of its own. A seed determines the run. Every frame takes a random
// time, or the time that a VirtualTiming computes. Frames of one ordered pair keep their order; frames of different
// pairs may overtake each other. Long bodies travel in segments, so that the events of a body (started, finished, cut)
// occur between other events.
//
// To drive the network, let every rank make progress until nothing moves, and then call advance(). When advance()
// returns false, nothing is in flight any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/wire/wire.hpp"

namespace margay::sim {

// Times, sizes and probabilities of the network.
struct VirtualOptions {
  // The bounds of a frame's time on the network, which is drawn evenly between them. All times here are virtual.
  std::uint64_t delay_min_ns = 500;
  std::uint64_t delay_max_ns = 20'000;
  // Bodies of at most this length arrive whole; longer bodies arrive in segments of this length.
  std::uint64_t segment_bytes = 4096;
  // The window of an ordered pair: the most bytes of bodies, and the most messages, that the sender may have sent and
  // the receiver has not taken.
  std::uint64_t window_bytes = 65'536;
  std::uint32_t window_messages = 64;
  // The probability that try_send() fails although there is room.
  double full_probability = 0.1;
  // The probability that a frame takes stall_ns longer. All later frames of its pair wait behind it.
  double stall_probability = 0.02;
  std::uint64_t stall_ns = 200'000;
  // The kind of its wires. Two networks between the same ranks need two kinds.
  WireId wire = WireId::virtual_;
};

// Counts over all pairs. When nothing is in flight or held: sent = delivered + lost.
struct VirtualCounts {
  // Messages whose head left.
  std::uint64_t sent = 0;
  // Heads that the receiver has answered. A held head does not count until its receiver consumes, accepts or refuses
  // it.
  std::uint64_t delivered = 0;
  // Heads that were dropped because their sender or receiver is lost.
  std::uint64_t lost = 0;
};

// The times of frames, for a machine whose ranks have a clock each (virtual_machine/world). Each frame then has the
// time of its arrival when it is sent, and its receiver's poll finds it from that time on; advance() is not used. All
// calls are made inside a rank's call.
class VirtualTiming {
 public:
  VirtualTiming() = default;
  VirtualTiming(const VirtualTiming&) = delete;
  VirtualTiming& operator=(const VirtualTiming&) = delete;
  virtual ~VirtualTiming() = default;

  // The time of a frame that does not arrive, because no way leads to its receiver: the network then cuts the pair.
  static constexpr std::uint64_t kLost = ~std::uint64_t{0};

  // The time at which a frame arrives that `from` sends now, with `bytes` bytes of a body, or kLost. `begins`: it is
  // the head of a message. The network delays it further if an earlier frame of the pair arrives later.
  [[nodiscard]] virtual std::uint64_t arrival_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                                 bool begins) = 0;
  // A frame to `to`, with that delay, arrives at `at_ns`.
  virtual void sent(std::uint32_t to, std::uint64_t at_ns) = 0;
  // Rank `by` has taken a frame of `from`, whose window has more room now. `begins`: it was the head of a message.
  virtual void taken(std::uint32_t by, std::uint32_t from, bool begins) = 0;
  // Rank `rank` is about to poll. Returns the time up to which frames have arrived for it. No frame that is sent later
  // arrives before that time.
  [[nodiscard]] virtual std::uint64_t begin_poll(std::uint32_t rank) = 0;
  // The present time of rank `rank`.
  [[nodiscard]] virtual std::uint64_t present_ns(std::uint32_t rank) const = 0;
};

class VirtualWire;

// The network. It owns the wires and all frames in flight. Used by one thread, or by threads that exclude each other.
// The same seed and the same calls give the same run on every machine.
class VirtualNetwork {
 public:
  // `group` goes into every header. `timing` outlives the network; nullptr: times are random.
  VirtualNetwork(std::uint32_t ranks, std::uint64_t seed, const VirtualOptions& options = {},
                 portals::GroupId group = 0, VirtualTiming* timing = nullptr);
  ~VirtualNetwork();
  VirtualNetwork(const VirtualNetwork&) = delete;
  VirtualNetwork& operator=(const VirtualNetwork&) = delete;

  // Creates the wire of `rank`, once. Finished transmissions go to `finished`, which outlives the network.
  Wire& attach(std::uint32_t rank, TransmissionList& finished);
  // The wire of `rank`. Requires: attach(rank) was called.
  [[nodiscard]] Wire& wire(std::uint32_t rank);

  // Advances the clock to the next frame's arrival, and makes this frame visible to its receiver. false: nothing is in
  // flight.
  bool advance();
  // The virtual time: that of the last arrival.
  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_; }
  // Simulates the end of process `rank`: frames to and from it are dropped, messages queued by it and for it fail, and
  // every other attached rank gets the events cut (for an incomplete body) and lost. With a VirtualTiming each rank's
  // next poll does its part, because the rank may be suspended inside of its wire.
  void lose(std::uint32_t rank, std::string_view reason = "lost as the test asked");
  // With a VirtualTiming, when no rank will poll again: drops the frames of all lost pairs.
  void drop_lost();
  [[nodiscard]] const VirtualCounts& counts() const { return counts_; }

 private:
  friend class VirtualWire;

  // One transfer on the network.
  struct Frame {
    // head: a message's header. segment: a part of its body. cut: the body's end, before its length.
    enum class Type : std::uint8_t { head, segment, cut };
    Type type = Type::head;
    portals::Header header;  // head
    // head: the whole body, if it is short. segment: its part of the body.
    std::vector<std::byte> bytes;
    bool whole = true;         // head
    std::uint64_t due_ns = 0;  // the time of its arrival
  };
  // One ordered pair of ranks. Frames go from the sender to `flying`, and from there to `arrived`.
  struct Pair {
    static constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    // The index of the sender in the receiver's inbound_; kNoIndex: no frame has arrived.
    std::uint32_t inbound = kNoIndex;
    // Frames that have not arrived, in order. Lists, because an empty one is small, and most pairs are seldom in use.
    std::list<Frame> flying;
    // Frames that have arrived and that the receiver has not taken. With a VirtualTiming, all frames of the pair: each
    // has the time of its arrival.
    std::list<Frame> arrived;
    std::uint64_t last_due_ns = 0;
    // The bytes and messages that occupy the window.
    std::uint64_t used_bytes = 0;
    std::uint32_t used_messages = 0;
    TransmissionList queue;
    // The head of the first queued transmission has left.
    bool begun = false;
    // Sender or receiver is lost; final.
    bool lost = false;
  };
  // The arrival of one frame of a pair.
  struct Due {
    // Virtual time of the arrival.
    std::uint64_t at_ns;
    // The number of the frame. It orders arrivals at the same time, so that a run is the same on every machine.
    std::uint64_t order;
    Pair* pair;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };

  // The pair, made at its first use.
  Pair& pair(std::uint32_t from, std::uint32_t to);
  // Sends a frame: draws the time of its arrival, which is later than those of the pair's earlier frames.
  void launch(Pair& pair, Frame frame);
  // Puts the pair's first frame in flight where the receiver's poll finds it.
  void make_arrive(Pair& pair);
  // Discards all frames of a pair, and counts their messages as lost.
  void drop(Pair& pair);
  // With a VirtualTiming: makes both ranks of the pair lose their connection.
  void cut(Pair& pair);
  // The next random number from the seed.
  std::uint64_t random();
  // True with the given probability.
  bool chance(double probability);

  VirtualOptions options_;
  portals::GroupId group_;
  VirtualTiming* const timing_;
  // State of the random number generator.
  std::uint64_t state_;
  std::uint64_t now_ns_ = 0;
  // Frames sent so far, the source of Due::order.
  std::uint64_t launched_ = 0;
  VirtualCounts counts_;
  std::vector<std::unique_ptr<VirtualWire>> wires_;
  // By rank: the reason of its loss; empty: the rank is not lost.
  std::vector<std::string_view> gone_;
  // Elements of this map do not move.
  std::unordered_map<std::uint64_t, Pair> pairs_;
  // Arrivals in order of time. Entries of dropped frames stay, and are skipped.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

// One rank's wire. It sets no hints (Wire::quiet()), so the kernel pushes and polls it in each round.
class VirtualWire final : public Wire {
 public:
  VirtualWire(VirtualNetwork& network, std::uint32_t rank, TransmissionList& finished);

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override;
  void hold() override;
  void accept(const portals::Region& landing, void* cookie) override;
  void refuse() override;
  [[nodiscard]] BodyReport body_report() const override { return {TraceBody::virtual_}; }
  [[nodiscard]] TraceBody body_taken() const override { return TraceBody::virtual_; }
  [[nodiscard]] bool idle() const override { return busy_.empty(); }
  [[nodiscard]] bool simulates_thread() const override { return network_.timing_ != nullptr; }
  [[nodiscard]] bool thread_has_seen() const override {
    return !lost_peers_.empty() ||
           (!expected_.empty() && expected_.top().at_ns <= network_.timing_->present_ns(rank_));
  }

 private:
  friend class VirtualNetwork;
  using Pair = VirtualNetwork::Pair;
  using Frame = VirtualNetwork::Frame;

  // The receiving state for one sender, that is, for one ordered pair. The states are those of ShmInbound, except that
  // no body is on offer.
  struct Inbound {
    enum class State : std::uint8_t { between, offered, held, receiving, passing, losing, lost };
    std::uint32_t rank = 0;
    Pair* pair = nullptr;
    State state = State::between;
    // Number of the last message that was answered.
    std::uint64_t sequence = 0;
    portals::RegionCursor landing;
    // Bytes of the arriving body that have not arrived.
    std::uint64_t left = 0;
    void* cookie = nullptr;
    // In state `losing`: the cut of an accepted body is still to be reported.
    bool accepted = false;
  };

  // A time at which there is something from a sender, by its index in inbound_.
  struct Expected {
    std::uint64_t at_ns;
    // Orders equal times, so that a run is the same on every machine.
    std::uint64_t order;
    std::size_t inbound;
    friend bool operator>(const Expected& a, const Expected& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };

  // The receiving state for sender `rank`, made at its first use, and its index in inbound_.
  Inbound& inbound(std::uint32_t rank) { return inbound_[inbound_index(rank)]; }
  std::size_t inbound_index(std::uint32_t rank);
  // The steps of poll(), by state, as in ShmInbound. look() returns whether it filled in `arrival`, and so does each
  // step.
  bool look(Inbound& inbound, Arrival& arrival);
  // Whether the sender's next frame has arrived.
  [[nodiscard]] bool has_frame(const Inbound& inbound) const;
  // poll() with a VirtualTiming: the earliest arrival first, in O(log frames).
  bool poll_by_time(Arrival& arrival);
  // Makes poll_by_time() look at a sender from `at_ns` on.
  void expect(std::size_t inbound, std::uint64_t at_ns) { expected_.push({at_ns, ++expectations_, inbound}); }
  // State between: returns the next message.
  bool offer(Inbound& inbound, Arrival& arrival);
  // States receiving and passing: takes segments, and detects the end or the cut of the body.
  bool move_body(Inbound& inbound, Arrival& arrival);
  bool end_body(Inbound& inbound, Arrival::Kind kind, Arrival& arrival);
  // State losing: reports the cut of an accepted body, and then the loss.
  bool report_loss(Inbound& inbound, Arrival& arrival);
  // The common part of accept() and refuse().
  void answer_started(Inbound::State state);
  // Removes the front frame, and frees its part of the window.
  void take(Inbound& inbound);
  // Sends the next frame of the first queued message.
  bool carry(Pair& pair);
  // Whether the pair's window has room for one more message of `bytes`.
  bool room(const Pair& pair, std::uint64_t bytes) const;
  // Ends the first queued message of a pair.
  void finish(Pair& pair, Transmission::State state);
  // Fails all queued messages of a pair.
  void fail(Pair& pair);
  // Drops the frames from and to a lost `peer`, fails the messages queued for it, and begins to report its loss.
  void lose_peer(std::uint32_t peer);

  VirtualNetwork& network_;
  // This rank, the source of the frames that the wire sends.
  std::uint32_t rank_;
  TransmissionList& finished_;
  // In order of first use. A deque, because its elements do not move when it grows.
  std::deque<Inbound> inbound_;
  std::unordered_map<std::uint32_t, std::size_t> index_of_sender_;
  // Pairs from this rank with something queued.
  std::vector<Pair*> busy_;
  // Index of the sender that was polled last. The next poll begins after it, so that no sender starves.
  std::size_t turn_ = 0;
  // Index of the sender of the message that awaits its answer.
  std::size_t answering_ = 0;
  // Messages that were held since the last push.
  std::uint32_t held_ = 0;
  // With a VirtualTiming: the present poll finds frames that arrive up to this time.
  std::uint64_t visible_ns_ = ~std::uint64_t{0};
  // The times at which poll_by_time() looks at senders: one for each frame, and one for each loss. Of held senders, the
  // times are in held_expected_ until the next push.
  std::priority_queue<Expected, std::vector<Expected>, std::greater<>> expected_;
  std::vector<Expected> held_expected_;
  // The source of Expected::order.
  std::uint64_t expectations_ = 0;
  // Peers that the next poll loses.
  std::vector<std::uint32_t> lost_peers_;
};

}  // namespace margay::sim
