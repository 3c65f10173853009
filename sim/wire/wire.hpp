// A wire: a transport of headers and bodies from one process's memory to another's. There are four: self, shm, tcp and
// virtual; the kernel above is the same for all.
//
// Order: messages of one ordered pair arrive in the order of their send() and try_send() calls; those of different
// pairs in any order. Threads: every call under the process lock. Nothing here blocks. Flow: down by call, up by poll:
// a wire never calls the kernel; its poll() returns what happened.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/trace/event.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// The wires, in order of preference: the kernel polls wires with lower numbers first. Values appear in traces.
enum class WireId : std::uint8_t { self = 0, shm = 1, tcp = 2, virtual_ = 3 };
inline constexpr std::size_t kWireCount = 4;
// "self", "shm", "tcp" or "virtual"; "unknown" for another number.
[[nodiscard]] std::string_view name(WireId id);

// One event on a wire, as poll() returns it.
struct Arrival {
  // At most one `lost` or `left` ends the events of a peer.
  enum class Kind : std::uint8_t {
    // Header and body are here; `body` lies in the wire's memory until consume() or hold().
    whole,
    // The header is here, and the body follows: answer with accept(), refuse() or hold().
    started,
    // The body of an accepted message is complete in its landing; `cookie` is accept()'s.
    finished,
    // The remainder of an accepted message's body will not arrive, because its sender stopped or is lost.
    cut,
    // No message will arrive from or reach `peer` any more; `loss` is the reason.
    lost,
    // The same for a peer that had sent a goodbye: only ranks that still expect a message from it see an error.
    left,
  };
  Kind kind = Kind::whole;
  // Rank of the other side in the world. Set for every kind.
  std::uint32_t peer = 0;
  // whole, started: number of the message in its ordered pair.
  std::uint64_t sequence = 0;
  // whole, started. Source and destination come from the connection, never from the frame.
  portals::Header header;
  // whole.
  portals::Region body;
  // finished, cut.
  void* cookie = nullptr;
  // lost, left: the end of a sentence, for example "connection reset"; static or owned by the wire.
  std::string_view loss;
};

// The interface of all wires. `peer` is a rank in the world. Functions with an empty body here are hints or services
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
  // Queues `transmission` behind the earlier ones for `peer`, and starts on it at once if it can. It comes onto
  // `finished` (an argument of each wire's constructor) when its body's memory is free again, with state sent, stopped
  // or failed.
  virtual void send(std::uint32_t peer, Transmission& transmission) = 0;
  // Stops a body whose remainder is not wanted: the wire carries no more of it than it must, and informs the receiver
  // of its end. No effect on a finished transmission.
  virtual void stop(std::uint32_t peer, Transmission& transmission) = 0;
  // Puts `instead`, which has no body, in the place of a queued transmission that has not begun to leave. That one
  // belongs to its sender again, and does not come onto `finished`. false: too late, and nothing happened.
  [[nodiscard]] virtual bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) = 0;

  // Hints that make a round that finds nothing cheap. quiet(): nothing can arrive before the next send, so poll() may
  // be skipped. !wants_push(): push() may be skipped. A wire that sets neither hint is always pushed and polled.
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] bool wants_push() const { return wants_push_; }

  // Continues queued transmissions as far as possible without waiting, and makes held messages visible to poll() again.
  // Called at the beginning of each round, unless !wants_push(). Returns whether anything moved.
  virtual bool push() = 0;
  // The next event; false when there is none now. A `whole` or `started` must be answered before the next poll(). Moves
  // the bodies of accepted messages along.
  [[nodiscard]] virtual bool poll(Arrival& arrival) = 0;
  // Whether polls since the last call received bytes of bodies: a long body takes many polls, and only its end is an
  // event.
  [[nodiscard]] bool take_body_moved() { return body_moved_ && std::exchange(body_moved_, false); }
  // A count that grows while peers read bodies out of this process's memory. Peers read without this process's help, so
  // it may sleep meanwhile, but its wait is not stalled. A hint.
  [[nodiscard]] virtual std::uint64_t bodies_read_on() const { return 0; }

  // Whether something that was sent may still be on its way to the peer's machine, so that the peer's next poll would
  // not find it (network wires). Called before a report that no message is in flight; may cost a system call for each
  // connection.
  [[nodiscard]] virtual bool in_transit() const { return false; }

  // Reports that the calling thread ends, or will not poll for long: work that the operating system does for this
  // thread is cancelled, and requested again by the next thread that polls.
  virtual void thread_ends() {}

  // Reports that other threads had this processor meanwhile: polls that were postponed are due.
  virtual void time_passed() {}
  // Reports that the process's owner waits and its round found nothing. The next push() may then help with a peer's
  // share of the work, such as copying a body. Never called for a coprocessor, which may share a processor with a
  // computing owner.
  virtual void idle_round() {}
  // Reports that the coprocessor makes the rounds, until called with false. Meanwhile the best methods are those for
  // which this process must be scheduled the fewest times.
  virtual void owner_away(bool away) { static_cast<void>(away); }

  // For traces: the method by which the body of the last arrival came. Valid for a whole one once it is consumed,
  // otherwise once it is finished.
  [[nodiscard]] virtual BodyReport body_report() const { return {}; }
  // The method by which bodies leave in try_send(); none: the receiver's wire reports it.
  [[nodiscard]] virtual TraceBody body_taken() const { return TraceBody::none; }

  // Answers to poll(); all concern the message of its last event.
  //
  // whole: its memory may be reused.
  virtual void consume() = 0;
  // whole or started: leave the message, and so all later ones of its peer, on the wire until after the next push().
  virtual void hold() = 0;
  // started: move the body to `landing`; `cookie` comes back with finished or cut. Requires: landing has at least one
  // byte and at most header.length; the wire discards the remainder of a longer body.
  virtual void accept(const portals::Region& landing, void* cookie) = 0;
  // started: discard the body; no further event reports it.
  virtual void refuse() = 0;

  // Whether no transmission is queued or partly sent, so that the process may exit.
  [[nodiscard]] virtual bool idle() const = 0;
  // Wakes the coprocessor of `peer`, which may be computing while work waits for it. No effect where peers poll by
  // themselves.
  virtual void nudge(std::uint32_t peer) { static_cast<void>(peer); }
  // The same for every peer that does not take its queued messages.
  virtual void nudge_queued() {}
  // Monitors `peer`, from which a message is expected, perhaps the first one between the two: from here on, the wire
  // reports the loss of this peer. No effect on wires that report the loss of any peer.
  virtual void monitor(std::uint32_t peer) { static_cast<void>(peer); }
  // A file descriptor that becomes readable when poll() may have something, for a process about to sleep; -1: none.
  [[nodiscard]] virtual int wait_descriptor() const { return -1; }
  // Called by a process about to sleep on wait_descriptor(). true: something is here already, so do not sleep.
  [[nodiscard]] virtual bool prepare_wait() { return false; }

 protected:
  // Set by the derived wire; quiet() and wants_push() return them.
  bool quiet_ = false;
  bool wants_push_ = true;
  bool body_moved_ = false;  // see take_body_moved()

 private:
  WireId id_;
};

}  // namespace margay::sim
