// The message kernel of one process: it hands messages to wires, and puts arriving messages where the portal table
// directs them.
//
// The loop is progress(); its steps are in initiator (sending), target (arrivals) and answers (acknowledgments and
// replies). Every call is made under the process lock (sim/shm/biased_lock), unless a comment states otherwise. No call
// blocks. The kernel calls the layer above only through callbacks that the layer above has set. The layer above drains
// changed() and next_finished() after a round, or between arrivals (`after_each` of progress()).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/deliver.hpp"
#include "portals/portal_table.hpp"
#include "sim/base/accounting.hpp"
#include "sim/base/peer_table.hpp"
#include "sim/kernel/answers.hpp"
#include "sim/kernel/forward_relay.hpp"
#include "sim/kernel/initiator.hpp"
#include "sim/kernel/poll_schedule.hpp"
#include "sim/kernel/routes.hpp"
#include "sim/kernel/target.hpp"
#include "sim/shm/published.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// One process's kernel. Made by sim/machine/process, or over a virtual wire by tests.
class Kernel {
 public:
  // The default limit of arrivals from each wire in a round. It is small, so that a flood on one wire starves neither
  // the other wires nor the caller.
  static constexpr int kArrivalsPerRound = 4;

  // `routes[r]` is the wire that reaches rank r; `finished` is the list of finished transmissions that all these wires
  // fill. The wires, `finished` and `recorder` outlive the kernel.
  Kernel(portals::ProcessId me, Routes routes, TransmissionList& finished, Recorder& recorder);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // The kernel's parts. The initiator sends, and records the peers that are unreachable; the target delivers, holds or
  // drops arrivals; `answers` makes acknowledgments and replies.
  [[nodiscard]] Initiator& initiator() { return initiator_; }
  [[nodiscard]] const Initiator& initiator() const { return initiator_; }
  [[nodiscard]] Target& target() { return target_; }
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] Answers& answers() { return answers_; }
  // This process.
  [[nodiscard]] portals::ProcessId me() const { return me_; }
  // The number of ranks of the job, this one included.
  [[nodiscard]] std::uint32_t ranks() const { return registers_.ranks(); }
  // The program's portal table, and the list of descriptors that changed since the program last drained it.
  [[nodiscard]] portals::PortalTable& table() { return table_; }
  [[nodiscard]] portals::ChangedList& changed() { return changed_; }

  // Sends a message if its wire can take the whole body at once. true: the body's memory is free again. false: nothing
  // happened (the ring is full, the body is long, or the peer is unreachable); the caller uses send() instead.
  // header.source is ignored, because the receiver derives the source from the channel. Requires: destination.rank <
  // ranks(), and the body has header.length bytes.
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body, WayCode way = kUsualWay) {
    return initiator_.try_send(header, body, way);
  }
  // Sends `transmission` (its header.destination, header.length and body are set). The kernel owns the transmission and
  // reads its body until next_finished() returns it. The transmission's state is then `sent`, `stopped` or, if the peer
  // is lost, `failed`.
  void send(Transmission& transmission) { initiator_.send(transmission); }
  // Messages that are sent to `peer` by the way `to` after this call are delivered behind those that were sent by
  // `from` before it. Messages of one way alone always keep their order. Requires: Moves::enable() here and at the
  // peer, and both ways are open.
  void move(std::uint32_t peer, WayCode from, WayCode to);
  // Forwards messages from now on, or has them forwarded: `hops` sends by this kernel, and its arrivals go to `relay`.
  // Both outlive the kernel. Requires: called once, before the first message.
  void set_forwarding(ForwardHops& hops, ForwardRelay& relay) {
    hops_ = &hops;
    hops.bind(initiator_, routes_, recorder_.clock());
    target_.set_relay(relay);
  }
  // Takes another wire into the rounds, behind the others. Requires: called outside of a round; the process has no wire
  // of its kind yet, and no slower one.
  void add_wire(Wire& wire);
  // `wire`, one of wires(), reaches `peer` from now on. A loss of the peer is forgotten, because another process is
  // there. Requires: nothing is under way between this process and the peer.
  void set_route(std::uint32_t peer, Wire& wire) {
    routes_.set(peer, wire);
    initiator_.forget_loss(peer);
  }
  // Stops sending a body, because the receiver does not want its remainder. next_finished() still returns the
  // transmission, as stopped, sent or failed.
  void stop(Transmission& transmission) { initiator_.stop(transmission); }
  // Takes back a transmission that has not begun to leave, and sends `instead` in its place. `instead` is a message
  // without a body to the same process; the kernel owns it until next_finished() returns it. false: `transmission` has
  // begun to leave, and nothing happened.
  [[nodiscard]] bool replace(Transmission& transmission, Transmission& instead) {
    return initiator_.replace(transmission, instead);
  }
  // The next transmission whose body's memory is free again; nullptr when none.
  [[nodiscard]] Transmission* next_finished() { return finished_.empty() ? nullptr : take_finished(); }

  // One progress round: continues queued sends, and delivers and answers arrivals, at most `arrivals` from each wire.
  // Returns whether a send continued or an arrival was handled; a part of a body does not count (take_body_moved()).
  // Requires: arrivals >= 1.
  // `after_each` is called after each arrival. A filled descriptor stays in its match list until the caller drains it,
  // so a caller that drains in `after_each` keeps the next walk short.
  //
  // Most rounds of a waiting rank find nothing, and a message that arrives waits for half a round on average. So a
  // round that finds nothing is short: one virtual call for each wire that is not quiet(), about 30 instructions in all
  // on one node.
  template <typename AfterEach>
  bool progress(int arrivals, AfterEach&& after_each) {
    unsigned did = 0;
    for (PolledWire& polled : polling_.rows()) {
      if (!polled.wire->quiet()) did |= poll_wire(polled, arrivals, after_each);
    }
    if ((did & kCut) == 0) [[likely]] {
      complete_rounds_.set(complete_rounds_.get() + 1);
    } else {
      ++cut_rounds_;
    }
    return (did & kMoved) != 0;
  }
  // The same without a callback.
  bool progress(int arrivals = kArrivalsPerRound) {
    return progress(arrivals, [] {});
  }

  // Number of progress rounds that drained every wire that they polled. A round that stopped at the limit of arrivals
  // is not counted. A round that skipped a wire is counted. Any thread.
  [[nodiscard]] std::uint64_t complete_rounds() const { return complete_rounds_.get(); }
  // Number of all progress rounds.
  [[nodiscard]] std::uint64_t rounds() const { return complete_rounds_.get() + cut_rounds_; }

  // Which rounds poll which wires.
  [[nodiscard]] PollSchedule& polling() { return polling_; }
  // PollSchedule::set(), switch_polling() and switch_all_on(), at this round.
  [[nodiscard]] portals::Status set_polling(std::string_view wire, const PollSetting& setting) {
    return polling_.set(wire, setting, rounds());
  }
  [[nodiscard]] portals::Status switch_polling(std::string_view wire, bool on) {
    return polling_.switch_polling(wire, on, rounds());
  }
  void poll_all_wires() { polling_.switch_all_on(rounds()); }
  // The polls of a wire so far; all 0 for a wire that this process does not have. Calls measure_polls() if the cost of
  // a poll is not known yet. Fails for the name of no wire.
  [[nodiscard]] portals::Status poll_counts(std::string_view wire, PollCounts& out);
  // Measures what a poll of each wire that is polled in each round costs, by 64 polls of it. They are rounds' polls:
  // they deliver and answer arrivals, so the caller drains changed() afterwards, as after progress().
  void measure_polls();

  // Whether rounds since the last call received a part of a body. progress() does not report a part, because a program
  // can continue only when the whole body is here. A part only shows that the wait for the body is not stalled.
  [[nodiscard]] bool take_body_moved() { return body_moved_ && std::exchange(body_moved_, false); }

  // Reports that the owner waits and its last round found nothing; see Wire::idle_round().
  void idle_round() {
    for (const PolledWire& polled : polling_.rows()) {
      if (polled.wire->needs_push()) [[unlikely]]
        polled.wire->idle_round();
    }
  }

  // See Wire::owner_away.
  void owner_away(bool away) {
    target_.owner_away(away);
    for (Wire* wire : wires_) wire->owner_away(away);
  }

  // Reports that other threads had this processor since the last round. The next round therefore polls every wire with
  // an adaptive interval. `woken`: the process slept, and perhaps a wire has woken it. The next round then polls each
  // wire, whatever its interval.
  void time_passed(bool woken = false) {
    if (yields_are_rounds_) return;
    polling_.make_due(!woken);
    for (Wire* wire : wires_) wire->time_passed();
  }

  // For a virtual machine whose polls take time. treat_yields_as_rounds(): time_passed() has no effect from now on,
  // because a wait's rounds follow each other, as if no other thread had the processor. skip_rounds(): counts rounds
  // that would find nothing, at most PollSchedule::rounds_to_poll().
  void treat_yields_as_rounds() { yields_are_rounds_ = true; }
  void skip_rounds(std::uint64_t rounds);

  // Reports that the program waits for an answer from `peer`: an acknowledgment, a reply, or a put that serves as an
  // answer. The peer may be computing, so a wait without progress wakes its coprocessor by nudge(). Each call of
  // expect_answer() requires one later call of count_answer().
  void expect_answer(std::uint32_t peer) { ++owed_[peer], ++registers_.unfinished().owed; }
  void count_answer(std::uint32_t peer) {
    std::uint32_t& owed = owed_[peer];
    MARGAY_ASSERT(owed != 0 && registers_.unfinished().owed >= owed);
    --owed, --registers_.unfinished().owed;
  }
  // See Wire::monitor.
  void monitor(std::uint32_t peer) { routes_[peer]->monitor(peer); }
  // Wakes every peer that owes an answer or does not take its queued messages. Returns whether there is such a peer.
  bool nudge();
  // Reports a poll by the program (MPI_Test and similar calls) that found nothing. While something is unfinished, every
  // 256th such poll calls nudge().
  void count_empty_poll() {
    if (unfinished() && ++empty_polls_ % kEmptyPollsToNudge == 0) nudge();
  }
  // Whether the program's or the kernel's transmissions are unfinished, or a peer owes an answer. If so, a process that
  // leaves the library now needs its coprocessor.
  [[nodiscard]] bool unfinished() const { return registers_.unfinished().any(); }
  // See Wire::bodies_read_on.
  [[nodiscard]] std::uint64_t bodies_read_on() const;
  // See Wire::in_transit.
  [[nodiscard]] bool in_transit() const;
  // Whether no transmission is queued or partly sent on any wire, no body is arriving, and no answer of the kernel's is
  // queued. Costs a call of each wire, so only the coprocessor and the end of a job use it.
  [[nodiscard]] bool idle() const;

  // The accounts of each ordered pair (sim/base/accounting.hpp). Read under the process lock.
  // Process::publish_accounts() copies them to the job board.
  [[nodiscard]] const Registers& registers() const { return registers_; }
  // See Registers::resume(). Requires: nothing has been sent or received.
  void resume_counts(std::uint32_t peer, std::uint64_t sent, std::uint64_t delivered, const DropCounts& dropped,
                     WayCode way) {
    registers_.resume(peer, sent, delivered, dropped, way);
  }
  // Each wire once, fastest first.
  [[nodiscard]] std::span<Wire* const> wires() const { return wires_; }
  // The wire that reaches `rank` as the usual way.
  [[nodiscard]] const Wire& route(std::uint32_t rank) const { return *routes_[rank]; }
  // The wire of a way to `rank`; nullptr: the way is not open.
  [[nodiscard]] const Wire* route(std::uint32_t rank, WayCode way) const { return routes_.by(rank, way); }
  [[nodiscard]] const Routes& routes() const { return routes_; }
  [[nodiscard]] Recorder& recorder() { return recorder_; }

 private:
  // Empty polls of the program between two nudges. An empty poll that yields takes 1 us at least, as does a nudge.
  static constexpr std::uint32_t kEmptyPollsToNudge = 256;
  // The effects of polls: a send continued or an arrival was handled; a message or a part of one was found; the poll
  // stopped at the limit of arrivals. Bits of one number, so that an idle round tests them all at once.
  static constexpr unsigned kMoved = 1, kFound = 2, kCut = 4;
  // One wire's part of a round. A wire that has nothing ends it here; poll_scheduled() is not inline, so that it takes
  // no registers from such rounds. serve() may be inline: a call costs each unexpected message 6 ns (8 %), and saves an
  // idle round half an instruction.
  template <typename AfterEach>
  unsigned poll_wire(PolledWire& polled, int arrivals, AfterEach& after_each) {
    if (polled.scheduled != nullptr) return poll_scheduled(polled, arrivals, after_each);
    Wire& wire = *polled.wire;
    const bool is_polled = !wire.needs_push();
    const bool has_arrival = is_polled && wire.poll(arrival_);
    if (is_polled && !has_arrival && !wire.body_moved()) [[likely]]
      return 0;
    const unsigned did = serve(wire, is_polled, has_arrival, arrivals, after_each);
    if ((did & kFound) != 0) polling_.count_hit(polled, rounds());
    return did;
  }
  // The same for a wire that is not polled in each round (sim/kernel/poll_schedule).
  template <typename AfterEach>
  [[gnu::noinline]] unsigned poll_scheduled(PolledWire& polled, int arrivals, AfterEach& after_each) {
    if (!polled.scheduled->count_down() || !polling_.begin(polled)) return 0;
    const unsigned did = serve(*polled.wire, false, false, arrivals, after_each);
    polling_.end(polled, (did & kFound) != 0, (did & kMoved) != 0);
    return did;
  }
  // Polls one wire. `is_polled`: the wire was polled once in this round; `has_arrival`: arrival_ is its first arrival.
  template <typename AfterEach>
  unsigned serve(Wire& wire, bool is_polled, bool has_arrival, int arrivals, AfterEach& after_each) {
    unsigned did = 0;
    if (!is_polled) {
      if (wire.needs_push() && wire.push()) did = kMoved;  // sim/wire: continues queued sends
      has_arrival = wire.poll(arrival_);
    }
    for (int taken = 1; has_arrival; ++taken) {
      did |= kFound;
      if (routes_.has_ways()) [[unlikely]]
        set_way(wire);
      if (target_.take(wire, arrival_)) did |= kMoved;  // sim/kernel/target: match, deposit, answer
      after_each();
      if (taken >= arrivals) [[unlikely]] {
        did |= kCut;
        break;
      }
      has_arrival = wire.poll(arrival_);
    }
    if (wire.take_body_moved()) {
      body_moved_ = true;
      did |= kFound;
    }
    return did;
  }
  // Sets the way of arrival_, and with it the message's number.
  [[gnu::noinline]] void set_way(const Wire& wire);
  // Returns the next finished transmission of the program; calls Answers::finish() for the kernel's own ones before it.
  Transmission* take_finished();
  // Records that a transmission is finished; called only while the recorder is on.
  void record_sent(const Transmission& transmission);

  portals::ProcessId me_;
  // See set_route().
  Routes routes_;
  // Each wire once, fastest first; polling_ is in the same order.
  std::vector<Wire*> wires_;
  PollSchedule polling_;
  // See take_body_moved().
  bool body_moved_ = false;
  bool yields_are_rounds_ = false;
  // See complete_rounds(); written by the thread that makes the rounds.
  Published<std::uint64_t> complete_rounds_;
  // Rounds that stopped at the limit of arrivals.
  std::uint64_t cut_rounds_ = 0;
  // The arrival in progress. A member, because constructing one in each round would cost more than the poll.
  Arrival arrival_;
  // The list of finished transmissions, which all wires fill.
  TransmissionList& finished_;
  Recorder& recorder_;
  Registers registers_;
  // The program's portal table, and the list of descriptors that messages changed. `delivery_` works on both.
  portals::PortalTable table_;
  portals::ChangedList changed_;
  portals::Delivery delivery_;
  // nullptr: nothing is forwarded.
  ForwardHops* hops_ = nullptr;
  // Answers expected from each peer.
  PeerTable<std::uint32_t> owed_;
  // Empty polls of the program while something was unfinished; see count_empty_poll().
  std::uint32_t empty_polls_ = 0;
  // The three parts; they refer to the members above, so they are constructed last.
  Initiator initiator_;
  Answers answers_;
  Target target_;
};

}  // namespace margay::sim
