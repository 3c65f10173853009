// The wire between ranks whose messages are forwarded. It cuts messages into pieces, which ForwardHops puts to the next
// process; ForwardRelay hands it the pieces that arrive for this process.
//
// Invariants
// 1. A flow, an ordered pair of ranks, has at most kForwardWindow pieces that its sender has sent and its receiver has
//    not returned credits for. A sender without credits waits, so a receiver that holds a message delays the sender.
// 2. A receiver returns credits for kForwardCreditStep pieces at once. It keeps back fewer than the window, so a sender
//    whose pieces are all taken has credits.
// 3. After close() and the farewell, this process sends neither credits nor nudges (silent_), until it sends again. It
//    sends neither to a neighbour that sent bye.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/kernel/forward_hops.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// The wire of one process. Used under the process lock. A peer is a rank whose messages are forwarded.
class ForwardWire final : public Wire {
 public:
  static constexpr std::uint64_t kNudgeEachNs = 2'000'000;
  // `finished` and `hops` outlive the wire.
  ForwardWire(ForwardHops& hops, TransmissionList& finished);

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
  [[nodiscard]] bool idle() const override { return busy_.empty() && (!closing_ || is_closed()); }
  // Wakes the neighbour, and asks the others on the path to wake the next one, at most once in kNudgeEachNs: a program
  // that tests a request nudges each few microseconds, and each such frame takes three hops.
  void nudge(std::uint32_t peer) override;
  void nudge_queued() override;
  // Makes the processes on the path neighbours of each other, because only neighbours learn of the end of the next.
  void monitor(std::uint32_t peer) override;

  // Frames for this process, which the relay has authenticated. take_piece() returns the mistake of a piece that no
  // margay process sends; empty: there is none. After a mistake the caller calls lose().
  [[nodiscard]] std::string take_piece(const ForwardFrame& frame, const portals::Region& body);
  [[nodiscard]] std::string take_credit(std::uint32_t peer, std::uint64_t number);
  // Reports the loss of `peer`, once, after everything that arrived before. `reason`: as Arrival::loss. No effect on a
  // rank that is not a peer.
  void lose(std::uint32_t peer, std::string_view reason, bool left);

  // Begins the process's departure: idle() is true once its neighbours have released it. A forwarder sends bye to its
  // remote neighbours after the other ranks of its node, another rank at once; both wait for an answer.
  void close();
  void resume();
  // Returns the credits that were kept while this process or its neighbour was silent.
  void return_kept();
  // Revokes the farewell, because this process, or another rank of its node, sends again. close() stays in force.
  void reopen();
  // close() was called, and other ranks of the node still use this forwarder.
  [[nodiscard]] bool serves_node() const { return closing_ && !silent_ && !node_is_done(); }
  // Whether other ranks of the node use this forwarder.
  [[nodiscard]] bool forwards_for_others() const;
  // Whether each of them has sent bye at least once, or is lost.
  [[nodiscard]] bool node_has_parted() const;
  // Between the farewell and reopen().
  [[nodiscard]] bool is_silent() const { return silent_; }
  // The most pieces that ever waited here for this process at once, over all flows.
  [[nodiscard]] std::size_t most_waiting() const { return most_waiting_; }

 private:
  // The sending side of a flow.
  struct Outbound {
    std::uint32_t peer = 0;
    TransmissionList queue;
    // The head of the first queued transmission has left.
    bool begun = false;
    bool lost = false;
    // monitor() was called.
    bool monitored = false;
    std::uint32_t credits = kForwardWindow;
    // Pieces sent.
    std::uint64_t pieces = 0;
    // The time of the last nudge of the whole path.
    std::uint64_t nudged_ns = 0;
  };
  struct Piece {
    ForwardKind kind = ForwardKind::whole;
    // whole, begin.
    portals::Header header;
    // whole, segment.
    std::vector<std::byte> bytes;
  };
  // The receiving side of a flow. passing: the body was refused.
  struct Inbound {
    enum class State : std::uint8_t { between, offered, held, receiving, passing, lost };
    std::uint32_t peer = 0;
    State state = State::between;
    // On ready_.
    bool is_ready = false;
    // The peer is lost, which is reported behind the pieces.
    bool losing = false;
    bool left = false;
    std::string loss;
    std::deque<Piece> pieces;
    // Pieces that arrived, and the bytes that the last one's message still lacks.
    std::uint64_t arrived = 0;
    std::uint64_t missing = 0;
    // Pieces that were taken and for which no credit was returned.
    std::uint32_t unreturned = 0;
    // Number of the last message that was answered.
    std::uint64_t sequence = 0;
    // The accepted or refused body: its place, and its bytes that were not taken.
    portals::RegionCursor landing;
    std::uint64_t left_bytes = 0;
    void* cookie = nullptr;
  };

  // The flow to or from `peer`, made at its first use.
  Outbound& outbound(std::uint32_t peer);
  Inbound& inbound(std::uint32_t peer);
  // Sends the next piece of the first queued transmission. false: no credit is left.
  bool carry(Outbound& flow);
  // Sends a header, with the body if `whole`.
  void post_head(Outbound& flow, const portals::Header& header, portals::RegionCursor& body, bool whole);
  void post_piece(Outbound& flow, ForwardKind kind, std::size_t bytes);
  // Ends the first queued transmission.
  void finish(Outbound& flow, Transmission::State state);
  // Puts a flow with something to report on ready_.
  void make_ready(Inbound& flow);
  // The steps of poll(), by state. They return whether they filled in `arrival`.
  [[nodiscard]] bool look(Inbound& flow, Arrival& arrival);
  [[nodiscard]] bool offer(Inbound& flow, Arrival& arrival);
  [[nodiscard]] bool move_body(Inbound& flow, Arrival& arrival);
  [[nodiscard]] bool report_loss(Inbound& flow, Arrival& arrival);
  [[nodiscard]] bool end_body(Inbound& flow, Arrival::Kind kind, Arrival& arrival);
  // Checks a piece against those before it, and adds it to them.
  [[nodiscard]] static std::string add(Inbound& flow, const ForwardFrame& frame, const portals::Region& body);
  // Removes the front piece.
  void take_front(Inbound& flow);
  void return_credits(Inbound& flow);
  // Ends the answer to an arrival; the flow gets `state`.
  Inbound& end_answer(Inbound::State state);
  // The farewell, once it is due.
  void part();
  [[nodiscard]] bool is_closed() const;
  [[nodiscard]] bool node_is_done() const;
  void set_hints();

  ForwardHops& hops_;
  TransmissionList& finished_;
  std::unordered_map<std::uint32_t, Outbound> outbound_;
  std::unordered_map<std::uint32_t, Inbound> inbound_;
  // Flows with something queued.
  std::vector<Outbound*> busy_;
  // Flows with something to report, in the order of their turns; and those whose first message is held until push().
  std::deque<Inbound*> ready_;
  std::vector<Inbound*> held_;
  Inbound* answering_ = nullptr;
  bool closing_ = false;
  bool silent_ = false;
  std::size_t waiting_ = 0;
  std::size_t most_waiting_ = 0;
  // The piece that is being made.
  std::array<std::byte, kForwardPieceBytes> piece_;
};

}  // namespace margay::sim
