// A wire: carries headers and bodies from one process's memory to another's. There are four: self, shm, tcp, virtual;
// the kernel above is the same for all.
//
// Order: messages of one ordered pair arrive in the order of their send() and try_send() calls. Between pairs: any.
// Threads: every call under the process lock. Nothing here blocks.
// Flow: down by call, up by poll: a wire never calls the kernel; it answers poll() with what happened.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "sim/trace/event.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::sim {

// Numbers are the order of preference: the kernel polls wires with lower numbers first.
enum class WireId : std::uint8_t { self = 0, shm = 1, tcp = 2, virtual_ = 3 };
inline constexpr std::size_t kWireCount = 4;
[[nodiscard]] std::string_view name(WireId id);

// One thing that happened on a wire.
struct Arrival {
  enum class Kind : std::uint8_t {
    whole,     // header and body are here: body() lies in the wire's memory until consume() or hold()
    started,   // header is here, the body is coming: answer with accept(), refuse() or hold()
    finished,  // the body of an accepted message is all deposited; `cookie` is accept()'s
    cut,       // the remainder of an accepted message's body will not come (its sender stopped or is lost)
    lost,      // no message will come from or reach `peer` again; `loss` says why
    left,      // the same of a peer that had left in order before: only who needs a message of it is concerned
  };
  Kind kind = Kind::whole;
  std::uint32_t peer = 0;      // rank in the world
  std::uint64_t sequence = 0;  // whole, started: of the message in its ordered pair
  portals::Header header;      // whole, started. source and destination come from the connection, never from the frame
  portals::Region body;        // whole
  void* cookie = nullptr;      // finished, cut
  std::string_view loss;       // lost, left: a sentence's end, e.g. "connection reset"; static or owned by the wire
};

class Wire {
 public:
  explicit Wire(WireId id) : id_(id) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  [[nodiscard]] WireId id() const { return id_; }

  // Takes a whole message at once if that is possible without waiting and nothing for this peer is queued: true, and
  // the body's memory is free again. false: nothing happened. Requires: body.bytes() == header.length.
  [[nodiscard]] virtual bool try_send(std::uint32_t peer, const portals::Header& header,
                                      const portals::Region& body) = 0;
  // Queues `transmission` behind the earlier ones for `peer` and starts on it at once if it can. It comes onto
  // `finished` (constructor argument of each wire) when its body's memory is free again, with state sent, stopped or
  // failed.
  virtual void send(std::uint32_t peer, Transmission& transmission) = 0;
  // The remainder of the body is not wanted: the wire carries no more of it than it must and tells the other side where
  // it ends. No effect once it is finished.
  virtual void stop(std::uint32_t peer, Transmission& transmission) = 0;
  // Puts `instead`, which has no body, in the place of a queued transmission of which nothing has left: that one is its
  // sender's again, and does not come onto `finished`. false: it is too late, nothing happened.
  [[nodiscard]] virtual bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) = 0;

  // What a round need not do, so that a round in vain costs little: look at this wire at all (nothing can come of it
  // before the next send), or push() it. Hints that the wire keeps; a wire that keeps none is always looked at.
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] bool wants_push() const { return wants_push_; }

  // Carries on with queued transmissions, as far as it goes without waiting, and lets held messages be seen again.
  // Called at the beginning of each progress, unless !wants_push(). Returns whether anything moved.
  virtual bool push() = 0;
  // The next thing that happened; false when there is nothing now. A `whole` or `started` must be answered before the
  // next poll(). Moves the bodies of accepted messages along.
  [[nodiscard]] virtual bool poll(Arrival& arrival) = 0;
  // Whether polls since the last call took bytes of bodies: a long body is on its way for many of them, and only its
  // end is an arrival.
  [[nodiscard]] bool take_body_moved() { return body_moved_ && std::exchange(body_moved_, false); }
  // Of bodies that stay in this process's memory until their receivers have read them: grows while they are read. They
  // take no turn of this process, so this is no reason for another one, only a sign that who waits does not wait in
  // vain. A hint.
  [[nodiscard]] virtual std::uint64_t bodies_read_on() const { return 0; }

  // Something that was sent may not have reached the other side's machine yet, where its next look would find it: a
  // network's wires. Asked by who claims that nothing is under way; may cost a call of the kernel for each connection.
  [[nodiscard]] virtual bool in_transit() const { return false; }

  // The calling thread ends, or will look no more for long: what the operating system does in its name is taken back,
  // and asked for again by the next thread that looks.
  virtual void thread_ends() {}

  // Others had this processor meanwhile: looks that were put off are due.
  virtual void time_passed() {}
  // The process's owner waits, and a round found nothing: the next push() may take on what is not its duty. Not said by
  // a coprocessor, which shares a processor with an owner that computes.
  virtual void idle_round() {}
  // The owner is away, and its coprocessor acts, until told otherwise: what needs the fewest turns on a processor is
  // best.
  virtual void owner_away(bool away) { static_cast<void>(away); }

  // For a trace, which alone asks. How the body of the last arrival came: of a whole one once it is consumed, else
  // finished.
  [[nodiscard]] virtual BodyTold body_came() const { return {}; }
  // How the bodies leave that try_send() takes; none: their receiver's wire tells that.
  [[nodiscard]] virtual TraceBody body_taken() const { return TraceBody::none; }

  // Answers; all concern the message that the last poll() gave.
  // whole: its memory may be used again
  virtual void consume() = 0;
  // whole or started: leave it (and so all later ones of its peer) until after the next push()
  virtual void hold() = 0;
  // started: move the body to `landing`; cookie comes back with finished or cut. Requires: landing has at most
  // header.length bytes and at least one; of a longer body the remainder passes by.
  virtual void accept(const portals::Region& landing, void* cookie) = 0;
  // started: let the body pass by unseen; no further arrival tells of it
  virtual void refuse() = 0;

  // True when no transmission is queued or half carried, so that a process may leave.
  [[nodiscard]] virtual bool idle() const = 0;
  // Work is waiting on `peer`, which may be computing: wake its message coprocessor. No effect where it looks by
  // itself.
  virtual void nudge(std::uint32_t peer) { static_cast<void>(peer); }
  // The same for every peer that does not take what is queued for it.
  virtual void nudge_queued() {}
  // Something is awaited from `peer`, perhaps the first that passes between the two: its end is told from here on. No
  // effect where it always is.
  virtual void watch(std::uint32_t peer) { static_cast<void>(peer); }
  // A descriptor that becomes readable when poll() may have something, for a process about to sleep; -1: none.
  [[nodiscard]] virtual int wait_descriptor() const { return -1; }
  // A process about to sleep on wait_descriptor() calls this first; true: something is there, do not sleep.
  [[nodiscard]] virtual bool prepare_wait() { return false; }

 protected:
  bool quiet_ = false;
  bool wants_push_ = true;
  bool body_moved_ = false;  // see take_body_moved()

 private:
  WireId id_;
};

}  // namespace margay::sim
