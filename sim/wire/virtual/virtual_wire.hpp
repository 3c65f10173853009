// Wires in one process, under a clock of their own: deterministic for a seed. Every frame takes a random time; frames
// of one ordered pair keep their order, frames of different pairs overtake each other. Long bodies travel in segments,
// so that started, segments, finished and cut come at random moments between other things.
//
// Drive it: let every rank make progress until nothing moves, then advance(); when that says false too, all is at rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/wire/wire.hpp"

namespace margay::sim {

struct VirtualOptions {
  std::uint64_t delay_min_ns = 500;
  std::uint64_t delay_max_ns = 20'000;
  std::uint64_t segment_bytes = 4096;   // bodies up to this are whole; longer ones come in such pieces
  std::uint64_t window_bytes = 65'536;  // under way or not yet taken, for each ordered pair
  std::uint32_t window_messages = 64;
  double full_probability = 0.1;    // try_send() says no although there is room
  double stall_probability = 0.02;  // a frame (and so all later ones of its pair) takes stall_ns longer
  std::uint64_t stall_ns = 200'000;
};

// Of all pairs together. At rest: sent = told + lost.
struct VirtualCounts {
  std::uint64_t sent = 0;  // messages whose head left
  std::uint64_t told = 0;  // heads that their receiver was told of and answered (held ones not yet)
  std::uint64_t lost = 0;  // heads dropped because sender or receiver is lost
};

class VirtualWire;

class VirtualNetwork {
 public:
  VirtualNetwork(std::uint32_t ranks, std::uint64_t seed, const VirtualOptions& options = {},
                 portals::GroupId group = 0);
  ~VirtualNetwork();
  VirtualNetwork(const VirtualNetwork&) = delete;
  VirtualNetwork& operator=(const VirtualNetwork&) = delete;

  // Makes the wire of `rank`, once; finished transmissions go to `finished`, which outlives the network.
  Wire& attach(std::uint32_t rank, TransmissionList& finished);
  // Requires: attached.
  [[nodiscard]] Wire& wire(std::uint32_t rank);

  // Moves the clock to the next frame that arrives, and lets its receiver see it. false: nothing is under way.
  bool advance();
  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_; }
  // The process `rank` is gone: what is under way to or from it is dropped, what is queued for it fails, and every
  // other attached rank is told cut (for half carried bodies) and lost.
  void lose(std::uint32_t rank, std::string_view reason = "lost as the test asked");
  [[nodiscard]] const VirtualCounts& counts() const { return counts_; }

 private:
  friend class VirtualWire;

  struct Frame {
    enum class Type : std::uint8_t { head, segment, cut };
    Type type = Type::head;
    portals::Header header;        // head
    std::vector<std::byte> bytes;  // head: a whole body; segment
    bool whole = true;             // head
  };
  // One ordered pair. Frames go from the sender's hands to `flying`, and from there to `arrived`.
  struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::deque<Frame> flying;
    std::deque<Frame> arrived;
    std::uint64_t last_due_ns = 0;
    std::uint64_t used_bytes = 0;  // of the window
    std::uint32_t used_messages = 0;
    TransmissionList queue;
    bool begun = false;  // the head of the first queued one has left
    bool lost = false;
  };
  struct Due {
    std::uint64_t at_ns;
    std::uint64_t order;  // breaks ties, so that a run is the same everywhere
    Pair* pair;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };

  Pair& pair(std::uint32_t from, std::uint32_t to);
  void launch(Pair& pair, Frame frame);
  void drop(Pair& pair);
  std::uint64_t random();
  bool chance(double probability);

  VirtualOptions options_;
  portals::GroupId group_;
  std::uint64_t state_;  // of the random numbers
  std::uint64_t now_ns_ = 0;
  std::uint64_t launched_ = 0;
  VirtualCounts counts_;
  std::vector<std::unique_ptr<VirtualWire>> wires_;
  std::vector<std::string_view> gone_;  // by rank: why it is lost; empty: it is not
  std::unordered_map<std::uint64_t, std::unique_ptr<Pair>> pairs_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

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
  [[nodiscard]] BodyTold body_came() const override { return {TraceBody::virtual_}; }
  [[nodiscard]] TraceBody body_taken() const override { return TraceBody::virtual_; }
  [[nodiscard]] bool idle() const override { return busy_.empty(); }

 private:
  friend class VirtualNetwork;
  using Pair = VirtualNetwork::Pair;
  using Frame = VirtualNetwork::Frame;

  // The receiving side of a pair.
  struct Sender {
    enum class State : std::uint8_t { between, offered, held, receiving, passing, losing, lost };
    std::uint32_t rank = 0;
    Pair* pair = nullptr;
    State state = State::between;
    std::uint64_t sequence = 0;
    portals::RegionCursor landing;
    std::uint64_t left = 0;
    void* cookie = nullptr;
    bool accepted = false;  // losing: cut is still to be told
  };

  Sender& sender(std::uint32_t rank);
  bool look(Sender& sender, Arrival& arrival);
  bool offer(Sender& sender, Arrival& arrival);
  bool move_body(Sender& sender, Arrival& arrival);
  bool end_body(Sender& sender, Arrival::Kind kind, Arrival& arrival);
  bool tell_loss(Sender& sender, Arrival& arrival);
  void answer_started(Sender::State state);
  void take(Sender& sender);
  bool carry(Pair& pair);
  bool room(const Pair& pair, std::uint64_t bytes) const;
  void finish(Pair& pair, Transmission::State state);
  void fail(Pair& pair);
  void peer_lost(std::uint32_t peer);

  VirtualNetwork& network_;
  std::uint32_t rank_;
  TransmissionList& finished_;
  std::deque<Sender> senders_;  // in order of their first frame's arrival
  std::unordered_map<std::uint32_t, std::size_t> sender_index_;
  std::vector<Pair*> busy_;  // pairs from here with something queued
  std::size_t turn_ = 0;
  std::size_t answering_ = 0;  // index of the sender whose message waits for its answer
};

}  // namespace margay::sim
