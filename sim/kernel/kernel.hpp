// The message kernel of one process: it hands messages to wires, and puts what arrives where the portal table says.
//
// The loop is progress(); its steps live in initiator (sending), target (arrivals), answers (acknowledgments and
// replies). Threads: every call under the process lock (sim/kernel/coprocessor.hpp). Nothing here blocks or knows
// of a layer above: whoever uses it looks at changed() and next_finished(), between arrivals if it likes (progress()).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "portals/deliver.hpp"
#include "portals/portal_table.hpp"
#include "sim/base/accounting.hpp"
#include "sim/base/peer_table.hpp"
#include "sim/kernel/answers.hpp"
#include "sim/kernel/initiator.hpp"
#include "sim/kernel/routes.hpp"
#include "sim/kernel/target.hpp"
#include "sim/shm/published.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class Kernel {
 public:
  // Few, so that a flood on one wire does not starve the others or the caller.
  static constexpr int kArrivalsPerRound = 4;

  // `routes[r]` is the wire that reaches rank r; `finished` the list that those wires were made with. All of them, and
  // `recorder`, outlive the kernel.
  Kernel(portals::ProcessId me, const std::vector<Wire*>& routes, TransmissionList& finished, Recorder& recorder);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // See Initiator.
  void count_wires_in(std::span<WireCounts> counts) { initiator_.count_wires_in(counts); }
  [[nodiscard]] portals::ProcessId me() const { return me_; }
  [[nodiscard]] std::uint32_t ranks() const { return registers_.ranks(); }
  // The program's portal table, and the descriptors that changed since they were last taken.
  [[nodiscard]] portals::PortalTable& table() { return table_; }
  [[nodiscard]] portals::ChangedList& changed() { return changed_; }

  // Sends a message whose body can be taken at once: true, and the body's memory is free again. false: nothing happened
  // (a full ring, or a long body): use send(). header.source is not looked at: the receiver knows it. Requires:
  // destination.rank < ranks(), the body has header.length bytes.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body) {
    return initiator_.try_send(header, body);
  }
  // Sends `transmission` (header.destination, header.length and body set); it stays the kernel's until next_finished().
  void send(Transmission& transmission) { initiator_.send(transmission); }
  // The receiver does not want the remainder of the body. It still comes off next_finished(), as stopped or sent.
  void stop(Transmission& transmission) { initiator_.stop(transmission); }
  // Takes back a transmission of which nothing has left: `instead` goes in its place, a put without a body to the same
  // process, and is the kernel's until next_finished(). false: it is too late, nothing happened.
  [[nodiscard]] bool replace(Transmission& transmission, Transmission& instead) {
    return initiator_.replace(transmission, instead);
  }
  // The next transmission whose body's memory is free again; nullptr when none.
  [[nodiscard]] Transmission* next_finished() { return finished_.empty() ? nullptr : take_finished(); }

  // One round: what is being sent goes on, what has arrived is delivered and answered, at most `arrivals` from each
  // wire. Returns whether anything moved. `after_each` is called after each arrival: who looks at the changed
  // descriptors then keeps walks short, as what a message filled stays in its match list until then.
  //
  // A round in vain is what a waiting rank does all the time, and a message that comes waits for half of one: its cost
  // is one virtual call for each wire that has had anything, about 30 instructions in all on one node.
  template <typename AfterEach>
  bool progress(int arrivals, AfterEach&& after_each) {
    bool moved = false;
    bool took_all = true;
    for (Polled& polled : polled_) {
      if (!polled.wire->quiet()) moved |= look(polled, arrivals, after_each, took_all);
    }
    if (took_all) looks_.set(looks_.get() + 1);
    return moved;
  }
  bool progress(int arrivals = kArrivalsPerRound) {
    return progress(arrivals, [] {});
  }

  // How many rounds left nothing behind that had arrived by then (a slow wire that was not looked at apart): not those
  // that had taken as many as they should. Any thread.
  [[nodiscard]] std::uint64_t looks() const { return looks_.get(); }

  // Whether rounds since the last call took a part of a body. progress() does not count that as something moved: nobody
  // can go on by it, and the next part comes as slowly as this one did. But who waits for the body does not wait in
  // vain.
  [[nodiscard]] bool take_body_moved() { return body_moved_ && std::exchange(body_moved_, false); }

  // The owner waits, and this round found nothing; see Wire::idle_round.
  void idle_round() {
    for (const Polled& polled : polled_) {
      if (polled.wire->wants_push()) [[unlikely]]
        polled.wire->idle_round();
    }
  }

  // See Wire::owner_away.
  void owner_away(bool away) {
    target_.owner_away(away);
    for (Wire* wire : wires_) wire->owner_away(away);
  }

  // Others had this processor meanwhile: the next round looks at every wire, slow ones too.
  void time_passed() {
    for (Polled& polled : polled_) {
      polled.skipped = 0;
      polled.wire->time_passed();
    }
  }

  // "no room" on this portal holds the message (and its sender's later ones) on the wire instead of dropping it.
  void hold_when_no_room(portals::PortalIndex portal) { target_.hold_when_no_room(portal); }

  // See Answers.
  void replies_may_change(portals::PortalIndex portal) { answers_.replies_may_change(portal); }

  // Peers depend on this process's memory, whether its owner comes by or not: rounds in which it is away count as well
  // for how long a message has been held.
  void serve_while_away(bool serve) { target_.serve_while_away(serve); }
  [[nodiscard]] bool serves_while_away() const { return target_.serves_while_away(); }
  // Whether messages of `rank` are held that way now.
  [[nodiscard]] bool holds(std::uint32_t rank) const { return target_.holds(rank); }
  // See Target: how long messages have been held, whatever else moved.
  [[nodiscard]] std::uint32_t take_longest_hold(portals::PortalIndex portal) {
    return target_.take_longest_hold(portal);
  }
  [[nodiscard]] bool holds_any() const { return target_.holds_any(); }
  void forget_holds() { target_.forget_holds(); }

  // The program waits for an answer (acknowledgment, reply, or a put that plays its part) from `peer`, which may be
  // computing: after a while without progress nudge() wakes its coprocessor. Calls balance.
  void expect_answer(std::uint32_t peer) { ++owed_[peer], ++owed_total_; }
  void answered(std::uint32_t peer) { --owed_[peer], --owed_total_; }
  // See Wire::watch.
  void watch(std::uint32_t peer) { routes_[peer]->watch(peer); }
  // Wakes every peer that owes an answer or does not take what is queued for it. Returns whether there is any.
  bool nudge();
  // A call that looks once found nothing, and the program will look again: the same, now and then.
  void looked_in_vain() {
    if (unfinished() && ++vain_looks_ % kVainLooksToNudge == 0) nudge();
  }
  // Something is queued, or an answer is owed: a process that leaves the library now needs its coprocessor.
  [[nodiscard]] bool unfinished() const { return owed_total_ + initiator_.under_way() != 0; }
  // See Wire::bodies_read_on.
  [[nodiscard]] std::uint64_t bodies_read_on() const;
  // See Wire::in_transit.
  [[nodiscard]] bool in_transit() const;
  // No transmission is queued or half carried on any wire, and no answer of the kernel's is.
  [[nodiscard]] bool idle() const;

  // What was decided about each arrival and why, if the program keeps it.
  [[nodiscard]] DecisionLog& decisions() { return target_.decisions(); }
  void set_match_probe(const MatchProbe& probe) { target_.set_match_probe(probe); }
  [[nodiscard]] const Registers& registers() const { return registers_; }
  // The first messages that were dropped because no entry took them; Target::kUnmatchedKept at most.
  [[nodiscard]] const std::vector<portals::Header>& first_unmatched() const { return target_.first_unmatched(); }
  [[nodiscard]] std::uint64_t unmatched_puts(portals::PortalIndex portal) const {
    return target_.unmatched_puts(portal);
  }
  [[nodiscard]] std::span<Wire* const> wires() const { return wires_; }
  [[nodiscard]] const Wire& route(std::uint32_t rank) const { return *routes_[rank]; }
  // No message comes from the rank or reaches it any more.
  [[nodiscard]] bool gone(std::uint32_t rank) const { return initiator_.gone(rank); }
  // The same, and it had not left in order before: who waits for any source may have waited for it.
  [[nodiscard]] bool lost(std::uint32_t rank) const { return initiator_.lost(rank); }
  // How many are gone.
  [[nodiscard]] std::uint32_t losses() const { return initiator_.losses(); }
  [[nodiscard]] std::string loss(std::uint32_t rank) const { return initiator_.loss(rank); }
  // Messages and bytes handed to, and taken from, each wire.
  [[nodiscard]] const WireCounts& sent_by_wire(WireId id) const { return initiator_.counts(id); }
  [[nodiscard]] const WireCounts& sent_by_kind(portals::Kind kind) const { return initiator_.counts(kind); }
  [[nodiscard]] std::uint64_t entries_walked() const { return target_.entries_walked(); }
  // Which ways arrivals took.
  [[nodiscard]] const Target::Counts& arrival_counts() const { return target_.counts(); }
  [[nodiscard]] Recorder& recorder() { return recorder_; }

 private:
  // A wire, and how it is looked at.
  struct Polled {
    Wire* wire = nullptr;
    bool slow = false;          // a look costs a system call, and there are faster wires: not in each round
    std::uint32_t skipped = 0;  // rounds since a slow wire last had something
  };
  // A wire whose look costs a system call is looked at each this many rounds while it has nothing, if messages may come
  // by another one that costs less (Nexus's skip_poll).
  static constexpr std::uint32_t kSlowWireRounds = 8;
  // A look that yields takes 1 us at least, and a nudge as much.
  static constexpr std::uint32_t kVainLooksToNudge = 256;
  template <typename AfterEach>
  bool look(Polled& polled, int arrivals, AfterEach& after_each, bool& took_all) {
    if (polled.slow && polled.skipped++ % kSlowWireRounds != 0) return false;
    Wire& wire = *polled.wire;
    bool came = wire.wants_push() && wire.push();  // sim/wire: what is being sent goes on
    int taken = 0;
    for (; taken < arrivals && wire.poll(arrival_); ++taken) {
      came |= target_.take(wire, arrival_);  // sim/kernel/target: match, deposit, answer
      after_each();
    }
    if (taken == arrivals) [[unlikely]]
      took_all = false;
    const bool body_moved = wire.take_body_moved();
    body_moved_ |= body_moved;
    if (came || body_moved) polled.skipped = 0;
    return came;
  }
  Transmission* take_finished();
  void record_sent(const Transmission& transmission);

  portals::ProcessId me_;
  Routes routes_;
  std::vector<Wire*> wires_;    // each once, fastest first
  std::vector<Polled> polled_;  // the same
  bool body_moved_ = false;     // see take_body_moved()
  Published<std::uint64_t> looks_;
  Arrival arrival_;  // the one being taken; here, because to make a new one each round costs more than to look
  TransmissionList& finished_;
  Recorder& recorder_;
  Registers registers_;
  portals::PortalTable table_;
  portals::ChangedList changed_;
  portals::Delivery delivery_;
  PeerTable<std::uint32_t> owed_;
  std::uint64_t owed_total_ = 0;
  std::uint32_t vain_looks_ = 0;
  Initiator initiator_;
  Answers answers_;
  Target target_;
};

}  // namespace margay::sim
