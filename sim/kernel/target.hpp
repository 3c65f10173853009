// The receiving side of the kernel. It matches each arrival. Then it deposits, counts and answers the message, holds it
// on its wire, or drops it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/deliver.hpp"
#include "sim/base/accounting.hpp"
#include "sim/kernel/answers.hpp"
#include "sim/kernel/decision_log.hpp"
#include "sim/kernel/forward_relay.hpp"
#include "sim/kernel/moves.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// Callbacks into the layer above while a trace records. `matched` is called for each message that a descriptor has
// taken: after put_whole() if that placed the message, otherwise before the message is complete. In `matched` the layer
// records the message's number, because its later events about the descriptor, or about the message in the heap,
// contain that number.
struct MatchProbe {
  void (*matched)(void* context, const portals::Verdict& verdict, const portals::Header& header,
                  std::uint64_t sequence) = nullptr;
  // Returns the number by which trace events name `entry`. If `place` is nullptr, that number is the entry's order key.
  std::uint64_t (*place)(void* context, const portals::MatchEntry& entry, portals::PortalIndex portal) = nullptr;
  // The first argument of both functions; not owned.
  void* context = nullptr;
};

// The receiving side of one process's kernel, which owns it. Used under the process lock only.
class Target {
 public:
  // All references outlive this object.
  Target(portals::ProcessId me, portals::Delivery& delivery, Initiator& initiator, Answers& answers,
         Registers& registers, Recorder& recorder);

  // Handles one arrival of `wire`. false: the message is held on the wire, and nothing moved. Not inlined, because most
  // rounds find nothing and would still pay for the stack frame. Flattened, so that a short message's path is one
  // function; the functions off that path are noinline.
  [[gnu::noinline, gnu::flatten]] bool take(Wire& wire, Arrival& arrival);

  // Enables backpressure on a portal: a message that finds no room is held on its wire, with all later ones of its
  // sender, instead of being dropped.
  void hold_when_no_room(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    hold_portals_ |= std::uint64_t{1} << portal;
  }
  // Whether the next message of `rank` by this way is held on its wire, and with it all later messages of that way.
  [[nodiscard]] bool holds(std::uint32_t rank, WayCode way = kUsualWay) const;
  // A message that is held on its wire for lack of room.
  struct HeldMessage {
    portals::Header header;
    // Its number in its ordered pair.
    std::uint64_t sequence = 0;
  };
  // The messages that are held now, one for each source and way at most, by source.
  [[nodiscard]] std::vector<HeldMessage> held_messages() const {
    std::vector<HeldMessage> messages;
    for (const auto& [key, held] : held_) {
      if (holds(held.header.source.rank, way_of(key))) messages.push_back({held.header, held.sequence});
    }
    std::ranges::sort(messages, {},
                      [](const HeldMessage& each) { return std::pair(each.header.source.rank, each.sequence); });
    return messages;
  }
  // The longest time that a message to `portal` has been held, in rounds after the first one: the maximum over the
  // messages that were held again since the last call. 0: no message was held again. The coprocessor's rounds count
  // only with serve_while_away().
  [[nodiscard]] std::uint32_t take_longest_hold(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    return std::exchange(longest_hold_[portal], 0);
  }
  // Whether a message that had been held before was held again since clear_holds(). A load, cheap enough for a test in
  // each round.
  [[nodiscard]] bool holds_any() const { return holds_any_; }
  void clear_holds() { holds_any_ = false; }
  // `away`: the owner computes, and the coprocessor makes the rounds from now on.
  void owner_away(bool away) { owner_away_ = away; }
  // Declares that peers depend on this process's memory even while its owner is away. The coprocessor's rounds then
  // count as rounds in which a message was held (take_longest_hold()).
  void serve_while_away(bool serve) { serve_while_away_ = serve; }
  [[nodiscard]] bool serves_while_away() const { return serve_while_away_; }
  // Counts of messages by the path that they took.
  struct Counts {
    // Messages deposited in separate steps (decide, move, complete). put_whole() deposited all others.
    std::uint64_t decided = 0;
    // Gets that were answered.
    std::uint64_t replied = 0;
    // Decisions that left a message on its wire: one for each held message and round.
    std::uint64_t held = 0;
    bool operator==(const Counts&) const = default;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Match entries examined so far, by linear walks or in a list's index.
  [[nodiscard]] std::uint64_t entries_walked() const { return entries_walked_; }
  // The log of decisions. Disabled until DecisionLog::keep() sets a limit.
  [[nodiscard]] DecisionLog& decisions() { return decisions_; }
  // The moves of peers between ways, whose markers arrive here.
  [[nodiscard]] Moves& moves() { return moves_; }
  // From now on, puts to kForwardPortal are hops of forwarded messages. `relay` outlives the target.
  void set_relay(ForwardRelay& relay) { relay_ = &relay; }
  // Sets the callbacks of traces; {}: none.
  void set_match_probe(const MatchProbe& probe) { match_probe_ = probe; }
  // The headers of the first messages that no entry accepted, for the report to the user. At most kUnmatchedKept,
  // because a wrong program may send any number of such messages.
  static constexpr std::size_t kUnmatchedKept = 20;
  [[nodiscard]] const std::vector<portals::Header>& first_unmatched() const { return first_unmatched_; }
  // Puts to `portal` that were dropped because no entry accepted them.
  [[nodiscard]] std::uint64_t unmatched_puts(portals::PortalIndex portal) const { return unmatched_puts_[portal]; }
  // Number of bodies that are arriving in parts.
  [[nodiscard]] std::uint64_t incoming() const { return incoming_bodies_; }

 private:
  // A message whose body arrives in parts. Pooled. The wire keeps its address as the cookie.
  struct Incoming {
    portals::Header header;
    // The result of decide(). It reserves the room until complete() or abandon().
    portals::Verdict verdict;
    std::uint64_t sequence = 0;
  };
  // A source's message that was held last on its wire. One for each source and way suffices, because a wire delivers
  // the messages of a source in order.
  struct Held {
    std::uint64_t sequence = 0;
    portals::Header header;
    // Rounds in which the message was held, the first one not counted; see take_longest_hold().
    std::uint32_t rounds = 0;
  };
  // The largest count of rounds; Held::rounds stays there.
  static constexpr std::uint32_t kRoundsMax = 0xffff'ffff;

  // The two paths of a whole message: whole() calls put_whole(); if that does not handle the message, decide_whole()
  // decides, copies and completes. Most messages are short and take whole(). The other paths are out of line, so that
  // whole() needs a small stack frame only.
  bool whole(Wire& wire, Arrival& arrival);
  [[gnu::noinline]] bool decide_whole(Wire& wire, Arrival& arrival);
  [[gnu::noinline]] bool take_partial(Wire& wire, Arrival& arrival);
  // Carries out a decision other than a deposit: a reply, a hold, or a drop.
  [[gnu::noinline]] bool not_deposited(Wire& wire, const Arrival& arrival, const portals::Verdict& verdict);
  // The steps of take_partial(). Each has the name of the kind of arrival that it handles; lost() handles `left` too.
  //
  // Only the header has arrived. Decides, and then accepts, refuses or holds the body.
  bool started(Wire& wire, Arrival& arrival);
  // A message to one of the two reserved portals. true: it was a marker or a hop, and `moved` is the result of take().
  [[gnu::noinline]] bool take_reserved(Wire& wire, const Arrival& arrival, bool& moved);
  // A marker of a move between two ways: consumes it, or holds it until the old way is drained.
  bool take_marker(Wire& wire, const Arrival& arrival);
  // A piece of a forwarded message: passes it on, or drops it if it is refused.
  void take_hop(Wire& wire, const Arrival& arrival);
  // Consumes a message that no entry accepts, counts it as delivered and records its deposit.
  void deposit_reserved(Wire& wire, const Arrival& arrival);
  // The body is complete in its landing.
  void finished(const Wire& wire, Incoming& incoming);
  // The remainder of the body will not arrive: gives the room back, and counts a drop.
  void cut(Incoming& incoming);
  // A peer is lost or has left: later sends to it fail.
  void lost(Wire& wire, const Arrival& arrival);

  // Whether a trace or the log of decisions records each message.
  [[nodiscard]] bool is_observed() const { return recorder_.on() || decisions_.on(); }
  // Delivery::decide(), with its record. A held message is decided again in each round; the decision to hold it is
  // recorded once.
  [[nodiscard]] portals::Verdict decide(const Arrival& arrival, WireId wire) {
    const portals::Header& header = arrival.header;
    portals::Verdict verdict = delivery_.decide(header);
    const bool hold = verdict.outcome == portals::Outcome::drop && must_hold(verdict, header);
    if (hold && !first_hold(header, arrival.sequence)) return verdict;
    entries_walked_ += verdict.visited;
    if (is_observed()) [[unlikely]]
      record_decision(arrival, wire, verdict, hold);
    return verdict;
  }
  // The three records of a message for the trace and the log of decisions: at its arrival, after decide(), and after
  // put_whole(), which includes the decision.
  [[gnu::noinline]] void record_arrival(const Arrival& arrival, WireId wire);
  [[gnu::noinline]] void record_decision(const Arrival& arrival, WireId wire, const portals::Verdict& verdict,
                                         bool hold);
  [[gnu::noinline]] void record_placed(const Arrival& arrival, const Wire& wire, const portals::Placed& placed);
  // Whether this message was held before.
  [[nodiscard]] bool was_held(std::uint32_t source, std::uint64_t sequence) const {
    const auto found = held_.find(message_number(way_of(sequence), source));
    return found != held_.end() && found->second.sequence == sequence;
  }
  // Counts a round in which a message is held. Returns true in the first round. The wire offers the message again in
  // each round.
  bool first_hold(const portals::Header& header, std::uint64_t sequence) {
    Held& held = held_[message_number(way_of(sequence), header.source.rank)];
    if (held.sequence != sequence) {
      held = {sequence, header, 0};
      return true;
    }
    if (owner_away_ && !serve_while_away_) return false;
    if (held.rounds != kRoundsMax) ++held.rounds;
    longest_hold_[header.portal] = std::max(longest_hold_[header.portal], held.rounds);
    holds_any_ = true;
    return false;
  }
  // Completes a deposit: counters, the acknowledgment, the trace.
  void complete_deposit(const Wire& wire, const portals::Verdict& verdict, const portals::Header& header,
                        std::uint64_t sequence) {
    delivery_.complete(verdict, header);
    ++counts_.decided;
    registers_.count_delivered(header.source.rank, way_of(sequence));
    if (verdict.acknowledge || recorder_.on()) [[unlikely]]
      finish_deposit(wire, verdict, header, sequence);
  }
  // The rare part of a completed deposit: records the deposit while tracing, and sends the acknowledgment if one is
  // requested.
  [[gnu::noinline]] void finish_deposit(const Wire& wire, const portals::Verdict& verdict,
                                        const portals::Header& header, std::uint64_t sequence);
  // Whether the message is held instead of dropped: it lacks room, and its portal has hold_when_no_room().
  [[nodiscard]] bool must_hold(const portals::Verdict& verdict, const portals::Header& header) const;
  // Counts and records a drop, as the accounting law demands. Keeps the headers of the first messages without a match
  // (first_unmatched()).
  [[gnu::noinline]] void drop(const portals::Header& header, std::uint64_t sequence, portals::DropReason reason);
  // The following functions record trace events; called only while the recorder is on.
  //
  // The arrival itself, as an event of the header's kind.
  void record_arrival(const portals::Header& header, std::uint64_t sequence, WireId wire);
  // The number by which trace events name an entry; see MatchProbe::place.
  [[nodiscard]] std::uint64_t place_of(const portals::MatchEntry& entry, portals::PortalIndex portal) const;
  // Records the destination that decide() found, or that the message is held. drop() records a drop.
  void record_verdict(const portals::Header& header, std::uint64_t sequence, const portals::Verdict& verdict);
  // Records the first entries that the linear walk passed over when the message arrived, at most
  // Recorder::walk_steps().
  void record_walk(const portals::Header& header, std::uint64_t sequence);
  // Takes an Incoming out of the pool, and returns one to it.
  [[nodiscard]] Incoming& make_incoming();
  // The message whose address started() gave to the wire as the cookie.
  [[nodiscard]] static Incoming& incoming_of(const Arrival& arrival) {
    MARGAY_ASSERT(arrival.cookie != nullptr);
    return *static_cast<Incoming*>(arrival.cookie);
  }
  // Requires: the wire does not refer to `incoming` any more.
  void release(Incoming& incoming);

  portals::ProcessId me_;
  portals::Delivery& delivery_;
  Initiator& initiator_;
  Answers& answers_;
  Registers& registers_;
  Recorder& recorder_;
  // By way and source. An element exists for each of which a message was ever held.
  std::unordered_map<std::uint64_t, Held> held_;
  // Bit per portal.
  std::uint64_t hold_portals_ = 0;
  static_assert(portals::kPortalCount <= 64);
  // By portal, in rounds; see take_longest_hold().
  std::array<std::uint32_t, portals::kPortalCount> longest_hold_{};
  bool holds_any_ = false;
  // Its functions are called only while a trace records. It may be set without a trace.
  MatchProbe match_probe_;
  // See serve_while_away() and owner_away().
  bool serve_while_away_ = false;
  bool owner_away_ = false;
  DecisionLog decisions_;
  Moves moves_;
  // nullptr: nothing is forwarded.
  ForwardRelay* relay_ = nullptr;
  Counts counts_;
  // Of a held message, only the first decision and the last one add entries, not the decisions in the rounds between.
  std::uint64_t entries_walked_ = 0;
  // At most kUnmatchedKept elements.
  std::vector<portals::Header> first_unmatched_;
  std::array<std::uint64_t, portals::kPortalCount> unmatched_puts_{};
  // Incoming messages in use.
  std::uint64_t incoming_bodies_ = 0;
  std::vector<std::unique_ptr<Incoming>> pool_;
  // Elements of pool_ that are not in use.
  std::vector<Incoming*> free_;
  // The steps of the linear walk for the message that is being recorded. A member, so that tracing does not allocate
  // for each message.
  std::vector<portals::Step> steps_;
  // That walk's length and result.
  portals::WalkSummary walk_;
};

}  // namespace margay::sim
