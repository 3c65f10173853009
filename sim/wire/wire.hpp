// A wire: a transport of headers and bodies from one process's memory to another's. There are five: self, shm, tcp,
// virtual and forward (sim/kernel/forward_wire); the kernel above is the same for all.
//
// Messages of one ordered pair arrive in the order of their send() and try_send() calls, messages of different pairs in
// any order. Every call is made under the process lock. No call blocks, unless its comment states otherwise. A wire
// never calls the kernel; its poll() returns events.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/base/message_number.hpp"
#include "sim/base/wire_kind.hpp"
#include "sim/trace/event.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// One event on a wire, as poll() returns it.
struct Arrival {
  // `lost` or `left` is the last event of a peer, and occurs at most once.
  enum class Kind : std::uint8_t {
    // Header and body are here; `body` lies in the wire's memory until consume() or hold().
    whole,
    // The header is here, and the body follows. To be answered with accept(), refuse() or hold().
    started,
    // The body of an accepted message is complete in its landing; `cookie` is the argument of accept().
    finished,
    // The remainder of an accepted message's body will not arrive, because its sender stopped or is lost.
    cut,
    // No message will arrive from or reach `peer` any more; `loss` is the reason.
    lost,
    // As `lost`, but the peer had sent a goodbye. So only ranks that still expect a message from it see an error.
    left,
  };
  Kind kind = Kind::whole;
  // Rank of the other side in the world. Set for every kind.
  std::uint32_t peer = 0;
  // The way between the two ranks that this wire is. Set by the kernel.
  WayCode way = kUsualWay;
  // whole, started: number of the message in its ordered pair. The wire sets the position, and the kernel adds the way.
  std::uint64_t sequence = 0;
  // whole, started. Its source and destination come from the connection, never from the frame.
  portals::Header header;
  // whole.
  portals::Region body;
  // finished, cut.
  void* cookie = nullptr;
  // lost, left: the end of a sentence, for example "connection reset"; static or owned by the wire.
  std::string_view loss;
};

// The interface of all wires. `peer` is a rank in the world. The functions that have a body here are hints or services
// that not every wire needs. tests/sim/wire_contract.hpp is the executable contract.
class Wire {
 public:
  explicit Wire(WireId id) : id_(id) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  [[nodiscard]] WireId id() const { return id_; }

  // Sends a whole message at once if that is possible without waiting and nothing is queued for this peer. true: the
  // body's memory is free again. false: nothing happened. Requires: body.bytes() == header.length.
  [[nodiscard]] virtual bool try_send(std::uint32_t peer, const portals::Header& header,
                                      const portals::Region& body) = 0;
  // Queues `transmission` behind the earlier ones for `peer`, and begins to send it at once if possible. When the
  // body's memory is free again, the wire puts the transmission on the list `finished` (an argument of each wire's
  // constructor), with the state sent, stopped or failed.
  virtual void send(std::uint32_t peer, Transmission& transmission) = 0;
  // Stops a body, because its receiver does not want the remainder. The wire sends as little more of the body as it
  // can, and reports the end to the receiver (Arrival::Kind::cut). No effect on a finished transmission.
  virtual void stop(std::uint32_t peer, Transmission& transmission) = 0;
  // Puts `instead`, which has no body, in the place of a queued transmission that has not begun to leave. The replaced
  // transmission belongs to the caller again, and does not come onto `finished`. false: `transmission` has begun to
  // leave, and nothing happened.
  [[nodiscard]] virtual bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) = 0;

  // Hints by which a round skips virtual calls. If quiet() is true, nothing can arrive before the next send, and poll()
  // may be skipped. If needs_push() is false, push() may be skipped. A wire that sets neither hint is pushed and polled
  // in each round.
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] bool needs_push() const { return needs_push_; }

  // Continues queued transmissions as far as possible without waiting, and makes held messages visible to poll() again.
  // Called at the beginning of each round, unless !needs_push(). Returns whether anything moved.
  virtual bool push() = 0;
  // Fills in the next event; false: there is none now. Also receives more bytes of accepted bodies. A `whole` or
  // `started` must be answered before the next poll().
  [[nodiscard]] virtual bool poll(Arrival& arrival) = 0;
  // Whether polls since the last call received bytes of bodies. A long body takes many polls, and only its end is an
  // event.
  [[nodiscard]] bool take_body_moved() { return body_moved_ && std::exchange(body_moved_, false); }
  // The same without forgetting them.
  [[nodiscard]] bool body_moved() const { return body_moved_; }
  // A count that grows while peers read bodies out of this process's memory. This process need not take part in these
  // reads, and may sleep meanwhile, but the growth shows that its wait is not stalled. A hint.
  [[nodiscard]] virtual std::uint64_t bodies_read_on() const { return 0; }

  // Network wires: whether bytes that were sent may still be on their way to the peer's machine, where the peer's next
  // poll would not find them. Called before a report that no message is in flight. May cost a system call for each
  // connection.
  [[nodiscard]] virtual bool in_transit() const { return false; }

  // Reports that the calling thread ends, or will not poll for long. The wire cancels the operations that the operating
  // system carries out for this thread; the next thread that polls submits them again. May block.
  virtual void thread_ends() {}

  // Reports that other threads had this processor since the last poll, so polls that the wire postponed are due.
  virtual void time_passed() {}
  // Reports that the process's owner waits and its round found nothing. The next push() may then help with a peer's
  // share of the work, such as copying a body. Never called for a coprocessor, which may share a processor with a
  // computing owner.
  virtual void idle_round() {}
  // `away`: the coprocessor makes the rounds, until this is called with false. Meanwhile the wire should use the
  // methods for which this process must be scheduled the fewest times.
  virtual void owner_away(bool away) { static_cast<void>(away); }

  // For traces: the method that carried the body of the last arrival. Valid after consume() of a whole message, and
  // after the event `finished` of a body that arrived in parts.
  [[nodiscard]] virtual BodyReport body_report() const { return {}; }
  // The method by which bodies leave in try_send(); none: only the receiver's wire reports the method.
  [[nodiscard]] virtual TraceBody body_taken() const { return TraceBody::none; }

  // Answers to poll(); all concern the message of its last event.
  //
  // whole: the message has been processed, and its memory in the wire may be reused.
  virtual void consume() = 0;
  // whole or started: leave the message on the wire, with all later messages of its peer. poll() returns it again after
  // the next push().
  virtual void hold() = 0;
  // started: put the body into `landing`; the event finished or cut will carry `cookie`. Requires: `landing` has at
  // least one byte and at most header.length bytes. If the body is longer than `landing`, the wire discards the
  // remainder.
  virtual void accept(const portals::Region& landing, void* cookie) = 0;
  // started: discard the body; no further event reports it.
  virtual void refuse() = 0;

  // Whether no transmission is queued or partly sent, so that the process may exit.
  [[nodiscard]] virtual bool idle() const = 0;
  // Wakes the coprocessor of `peer`, because the peer may be computing while work waits for it. No effect on wires
  // whose peers wake up by themselves.
  virtual void nudge(std::uint32_t peer) { static_cast<void>(peer); }
  // As nudge(), for every peer that does not take the messages queued for it.
  virtual void nudge_queued() {}
  // Monitors `peer`, from which a message is expected, perhaps the first one of the pair. From here on, the wire
  // reports the loss of this peer. No effect on wires that report the loss of any peer.
  virtual void monitor(std::uint32_t peer) { static_cast<void>(peer); }
  // A file descriptor that becomes readable when poll() may have something, for a process about to sleep; -1: none.
  [[nodiscard]] virtual int wait_descriptor() const { return -1; }
  // Whether a thread that does not poll may wait for wait_descriptor() while another one polls. False where the
  // operating system reports completions only to the polling thread.
  [[nodiscard]] virtual bool wakes_other_threads() const { return false; }
  // On a virtual machine: whether the wire simulates a thread that blocks on it, and whether that thread would have
  // seen something by now.
  [[nodiscard]] virtual bool simulates_thread() const { return false; }
  [[nodiscard]] virtual bool thread_has_seen() const { return false; }
  // Called by a process that is about to sleep on wait_descriptor(). true: something is here already, so the process
  // must not sleep.
  [[nodiscard]] virtual bool prepare_wait() { return false; }

 protected:
  // Set by the derived wire. quiet() and needs_push() return these two.
  bool quiet_ = false;
  bool needs_push_ = true;
  bool body_moved_ = false;  // see take_body_moved()

 private:
  WireId id_;
};

}  // namespace margay::sim
