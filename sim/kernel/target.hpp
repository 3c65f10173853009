// The receiving side of the kernel: each arrival is matched, its body moved to where the match says, and answered.
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
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// Called while a trace records. `matched`: for each message that found its place, before its body is there; whoever
// asks later which message a descriptor or a heap's entry got, for the trace's sake, keeps its number.
struct MatchProbe {
  void (*matched)(void* context, const portals::Verdict& verdict, const portals::Header& header,
                  std::uint64_t sequence) = nullptr;
  // What the next event, which is about this entry of the portal's list, calls its place; nullptr: its order.
  std::uint64_t (*place)(void* context, const portals::MatchEntry& entry, portals::PortalIndex portal) = nullptr;
  void* context = nullptr;
};

class Target {
 public:
  Target(portals::ProcessId me, portals::Delivery& delivery, Initiator& initiator, Answers& answers,
         Registers& registers, Recorder& recorder);

  // Takes what `wire` gave. false: the message is held on the wire, nothing moved. Not inlined: a round in vain, which
  // is most rounds, would pay for its frame. Flat: what a short message needs is one function, all else is not inlined.
  [[gnu::noinline, gnu::flatten]] bool take(Wire& wire, Arrival& arrival);

  // From now on a message that finds no room on this portal is held on the wire, with its sender's later ones, instead
  // of being dropped.
  void hold_when_no_room(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    hold_portals_ |= std::uint64_t{1} << portal;
  }
  // The next message of `rank` is held on its wire, and so are all later ones.
  [[nodiscard]] bool holds(std::uint32_t rank) const;
  // The most rounds that any message to `portal` which is held now has been held for, the owner's alone; 0: nothing is.
  // Of the rounds since this was last asked.
  [[nodiscard]] std::uint32_t take_longest_hold(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    return std::exchange(longest_hold_[portal], 0);
  }
  // Whether that is not 0 for some portal, until forget_holds(): what each round asks.
  [[nodiscard]] bool holds_any() const { return holds_any_; }
  void forget_holds() { holds_any_ = false; }
  void owner_away(bool away) { owner_away_ = away; }
  // Peers depend on this process's memory, whether its owner comes by or not: rounds in which it is away count as well
  // for how long a message has been held.
  void serve_while_away(bool serve) { serve_while_away_ = serve; }
  [[nodiscard]] bool serves_while_away() const { return serve_while_away_; }
  // Messages that were deposited in parts of a decision (decide, move, complete), not at once; gets that were answered;
  // rounds in which a message was left on its wire. What was deposited at once are the others that were delivered.
  struct Counts {
    std::uint64_t decided = 0;
    std::uint64_t replied = 0;
    std::uint64_t held = 0;
    bool operator==(const Counts&) const = default;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Entries that walks visited, by the index where it was used.
  [[nodiscard]] std::uint64_t entries_walked() const { return entries_walked_; }
  [[nodiscard]] DecisionLog& decisions() { return decisions_; }
  void set_match_probe(const MatchProbe& probe) { match_probe_ = probe; }
  // The first messages that no entry took, for who tells the user.
  static constexpr std::size_t kUnmatchedKept = 20;
  [[nodiscard]] const std::vector<portals::Header>& first_unmatched() const { return first_unmatched_; }
  // Puts to the portal that no entry took.
  [[nodiscard]] std::uint64_t unmatched_puts(portals::PortalIndex portal) const { return unmatched_puts_[portal]; }
  // Bodies that are on their way to their place.
  [[nodiscard]] std::uint64_t incoming() const { return under_way_; }

 private:
  // A message whose body comes in parts.
  struct Incoming {
    portals::Header header;
    portals::Verdict verdict;
    std::uint64_t sequence = 0;
  };
  // The message of a source that was last held on its wire.
  struct Held {
    std::uint64_t sequence = 0;
    std::uint32_t rounds = 0;  // of the owner, that it has been held for
  };
  static constexpr std::uint32_t kRoundsMax = 0xffff'ffff;

  // Short messages come whole. What else happens is not inlined, so that they pay for their own frame only.
  bool whole(Wire& wire, Arrival& arrival);
  [[gnu::noinline]] bool whole_other(Wire& wire, Arrival& arrival);
  [[gnu::noinline]] bool take_other(Wire& wire, Arrival& arrival);
  [[gnu::noinline]] bool not_deposited(Wire& wire, const Arrival& arrival, const portals::Verdict& verdict);
  bool started(Wire& wire, Arrival& arrival);
  void finished(const Wire& wire, Incoming& incoming);
  void cut(Incoming& incoming);
  void lost(Wire& wire, const Arrival& arrival);

  // Somebody wants to be told of each decision.
  [[nodiscard]] bool watched() const { return recorder_.on() || decisions_.on(); }
  [[nodiscard]] portals::Verdict decide(const Arrival& arrival, WireId wire) {
    const portals::Header& header = arrival.header;
    portals::Verdict verdict = delivery_.decide(header);
    const bool hold = verdict.outcome == portals::Outcome::drop && must_hold(verdict, header);
    if (hold && !first_hold(header, arrival.sequence)) return verdict;
    entries_walked_ += verdict.visited;
    if (watched()) [[unlikely]]
      note_decision(arrival, wire, verdict, hold);
    return verdict;
  }
  // The probe: what a trace and the log of decisions are told, beside what happens anyway. A message is here, and
  // nothing has happened yet; it was decided; it was deposited at once.
  [[gnu::noinline]] void note_arrival(const Arrival& arrival, WireId wire);
  [[gnu::noinline]] void note_decision(const Arrival& arrival, WireId wire, const portals::Verdict& verdict, bool hold);
  [[gnu::noinline]] void note_placed(const Arrival& arrival, const Wire& wire, const portals::Placed& placed);
  [[nodiscard]] bool was_held(std::uint32_t source, std::uint64_t sequence) const {
    const auto found = held_.find(source);
    return found != held_.end() && found->second.sequence == sequence;
  }
  // A held message comes again in each round; true the first time.
  bool first_hold(const portals::Header& header, std::uint64_t sequence) {
    Held& held = held_[header.source.rank];
    if (held.sequence != sequence) {
      held = {sequence, 0};
      return true;
    }
    if (owner_away_ && !serve_while_away_) return false;
    if (held.rounds != kRoundsMax) ++held.rounds;
    longest_hold_[header.portal] = std::max(longest_hold_[header.portal], held.rounds);
    holds_any_ = true;
    return false;
  }
  // The message is deposited: counters, the acknowledgment, the trace.
  void deposited(const Wire& wire, const portals::Verdict& verdict, const portals::Header& header,
                 std::uint64_t sequence) {
    delivery_.complete(verdict, header);
    ++counts_.decided;
    registers_.count_delivered(header.source.rank);
    if (verdict.acknowledge || recorder_.on()) [[unlikely]]
      tell_deposit(wire, verdict, header, sequence);
  }
  [[gnu::noinline]] void tell_deposit(const Wire& wire, const portals::Verdict& verdict, const portals::Header& header,
                                      std::uint64_t sequence);
  [[nodiscard]] bool must_hold(const portals::Verdict& verdict, const portals::Header& header) const;
  [[gnu::noinline]] void drop(const portals::Header& header, std::uint64_t sequence, portals::DropReason reason);
  void record_arrival(const portals::Header& header, std::uint64_t sequence, WireId wire);
  [[nodiscard]] std::uint64_t place_of(const portals::MatchEntry& entry, portals::PortalIndex portal) const;
  void record_verdict(const portals::Header& header, std::uint64_t sequence, const portals::Verdict& verdict);
  void record_walk(const portals::Header& header, std::uint64_t sequence);
  [[nodiscard]] Incoming& make_incoming();
  // The message whose body has come, or will not: started() gave it to the wire.
  [[nodiscard]] static Incoming& incoming_of(const Arrival& arrival) {
    MARGAY_ASSERT(arrival.cookie != nullptr);
    return *static_cast<Incoming*>(arrival.cookie);
  }
  void release(Incoming& incoming);

  portals::ProcessId me_;
  portals::Delivery& delivery_;
  Initiator& initiator_;
  Answers& answers_;
  Registers& registers_;
  Recorder& recorder_;
  std::unordered_map<std::uint32_t, Held> held_;  // by source, of those of which one ever was
  std::uint64_t hold_portals_ = 0;                // bit per portal
  static_assert(portals::kPortalCount <= 64);
  std::array<std::uint32_t, portals::kPortalCount> longest_hold_{};
  bool holds_any_ = false;
  MatchProbe match_probe_;
  bool serve_while_away_ = false;
  bool owner_away_ = false;
  DecisionLog decisions_;
  Counts counts_;
  std::uint64_t entries_walked_ = 0;
  std::vector<portals::Header> first_unmatched_;
  std::array<std::uint64_t, portals::kPortalCount> unmatched_puts_{};
  std::uint64_t under_way_ = 0;
  std::vector<std::unique_ptr<Incoming>> pool_;
  std::vector<Incoming*> free_;
  std::vector<portals::Step> steps_;  // of a traced walk; kept so that tracing does not allocate each time
  portals::WalkTold walk_;            // the same one's length
};

}  // namespace margay::sim
