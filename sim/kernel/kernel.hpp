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

#include "portals/base/assert.hpp"
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

  // The sending side, which also knows the peers that are gone; the receiving side, which holds, drops and counts; and
  // what acknowledgments and replies it makes.
  [[nodiscard]] Initiator& initiator() { return initiator_; }
  [[nodiscard]] const Initiator& initiator() const { return initiator_; }
  [[nodiscard]] Target& target() { return target_; }
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] Answers& answers() { return answers_; }
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

  // The program waits for an answer (acknowledgment, reply, or a put that plays its part) from `peer`, which may be
  // computing: after a while without progress nudge() wakes its coprocessor. Calls balance.
  void expect_answer(std::uint32_t peer) { ++owed_[peer], ++registers_.unfinished().owed; }
  void answered(std::uint32_t peer) {
    std::uint32_t& owed = owed_[peer];
    MARGAY_ASSERT(owed != 0 && registers_.unfinished().owed >= owed);
    --owed, --registers_.unfinished().owed;
  }
  // See Wire::watch.
  void watch(std::uint32_t peer) { routes_[peer]->watch(peer); }
  // Wakes every peer that owes an answer or does not take what is queued for it. Returns whether there is any.
  bool nudge();
  // A call that looks once found nothing, and the program will look again: the same, now and then.
  void looked_in_vain() {
    if (unfinished() && ++vain_looks_ % kVainLooksToNudge == 0) nudge();
  }
  // Something is queued, or an answer is owed: a process that leaves the library now needs its coprocessor.
  [[nodiscard]] bool unfinished() const { return registers_.unfinished().any(); }
  // See Wire::bodies_read_on.
  [[nodiscard]] std::uint64_t bodies_read_on() const;
  // See Wire::in_transit.
  [[nodiscard]] bool in_transit() const;
  // No transmission is queued or half carried on any wire, and no answer of the kernel's is.
  [[nodiscard]] bool idle() const;

  [[nodiscard]] const Registers& registers() const { return registers_; }
  [[nodiscard]] std::span<Wire* const> wires() const { return wires_; }
  [[nodiscard]] const Wire& route(std::uint32_t rank) const { return *routes_[rank]; }
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
  std::uint32_t vain_looks_ = 0;
  Initiator initiator_;
  Answers answers_;
  Target target_;
};

}  // namespace margay::sim
