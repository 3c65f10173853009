// The calls of one node whose results are awaited (paper, 6.4): sync_rmi() and the handles of sync_rmi_nonblocking().
// At most kCalls at once, so that the heap of their replies cannot overflow.
//
// A call's number is its slot and the slot's turn. So a reply finds its slot without a search, and a reply to an
// earlier call of the same slot is detected. Used inside, unless the node has one thread.
//
//   begin() -> awaited -> arrive() -> done -> end() -> free
//              awaited -> end() -> abandoned -> arrive() -> free
//
// Memory: a slot keeps 2 KiB for its next short reply, so a node has at most kCalls times as much. A call allocates
// only when its slot is used first, or after a long reply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "libraries/rmi/bodies.hpp"
#include "libraries/rmi/library.hpp"
#include "libraries/rmi/wire.hpp"

namespace margay::rmi::core {

// The caller must end each call once, by end() or cancel(); a slot whose reply is here stays taken until then.
class Calls {
 public:
  // `bodies`: fetches long replies; outlives this object. Slots are taken in ascending order, so that few calls use
  // few.
  explicit Calls(Bodies& bodies) : bodies_(bodies) {
    free_.reserve(kCalls);
    for (std::uint32_t slot = kCalls; slot-- > 0;) free_.push_back(slot);
  }

  // Whether all slots are taken; whether all are free.
  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] bool idle() const { return free_.size() == kCalls; }
  // The nodes of the calls that only the program can end: their handles exist, and no coroutine awaits them.
  [[nodiscard]] std::vector<std::uint32_t> held() const;
  // Whether a slot becomes free while its node waits: that of an abandoned call, or of one that a coroutine awaits, if
  // `resumes` (coroutines continue outside of methods only).
  [[nodiscard]] bool frees_some(bool resumes) const;
  // A new call of a method at `node`; its number is never 0. Requires: !full().
  [[nodiscard]] std::uint64_t begin(std::uint32_t node);
  // The call's request was not written, so that no reply will arrive. Frees the call's place.
  void cancel(std::uint64_t call) { free(call); }
  // Whether the reply is here, all of it. The functions with `call` require a number of begin() that is not ended.
  [[nodiscard]] bool done(std::uint64_t call) const { return slot(call).state == State::done; }
  [[nodiscard]] std::uint32_t node(std::uint64_t call) const { return slot(call).node; }
  // The reply's bytes. Requires: done(). Valid until end(). Also outside, because the slot of a call that is done
  // changes only by its caller.
  [[nodiscard]] std::span<const std::byte> reply(std::uint64_t call) const {
    return {slot(call).reply.get(), slot(call).bytes};
  }
  // A coroutine, or another function, that is called with the reply. `parity`: that of requests when it was suspended,
  // by which fences count it.
  struct Resumption {
    void (*resume)(void*) = nullptr;
    void* argument = nullptr;
    bool parity = false;
  };
  // Gives the call a resumption. Requires: it has none. Its reply may be here already, because the communication thread
  // may have taken it since the caller looked.
  void await(std::uint64_t call, const Resumption& resumption) {
    slot(call).resumption = resumption;
    if (done(call)) resumable_.push_back(call);
  }
  // Whether a call with a resumption has its reply; and the oldest one's resumption, which the call then has no more.
  // The caller runs it. Oldest first, so that each is resumed.
  [[nodiscard]] bool resumable() const { return !resumable_.empty(); }
  [[nodiscard]] Resumption take_resumption();
  // Takes the call's resumption away, whether its reply is here or not. Returns it, or one without a function. For a
  // coroutine that was destroyed.
  [[nodiscard]] Resumption give_up(std::uint64_t call);
  // Frees the call's slot, now or when its reply arrives. The reply's memory is kept for the slot's next call, unless
  // it was a long one.
  void end(std::uint64_t call);

  // Takes a reply of `node`, copied out of the mailbox, or the notice of a long one, which is fetched from it. Both
  // return false if the call awaits no reply of that node: the message is damaged, and changes nothing.
  [[nodiscard]] bool arrive(std::uint64_t call, std::uint32_t node, std::span<const std::byte> bytes);
  [[nodiscard]] bool arrive_long(std::uint64_t call, std::uint32_t node, std::uint32_t number, std::size_t bytes);
  // Whether a long reply is being fetched.
  [[nodiscard]] bool fetching() const { return !fetching_.empty(); }
  // Completes the calls whose long replies have been fetched. Inside.
  void sweep() {
    if (!fetching_.empty()) [[unlikely]]
      take_fetched();
  }

 private:
  // `abandoned`: the caller has given up the result, and the slot waits for its reply.
  enum class State : std::uint8_t { free, awaited, done, abandoned };
  // One call. `bytes`: the reply's. `capacity`: of `reply`, which outlives the call. `fetch`: the body on its way, if
  // it is long.
  struct Slot {
    State state = State::free;
    std::uint32_t node = 0;
    std::uint32_t turn = 0;  // how often the slot was used: the upper part of the call's number
    std::size_t bytes = 0;
    std::size_t capacity = 0;
    Memory reply;
    Fetch* fetch = nullptr;
    Resumption resumption;
  };
  // A number of any value has a slot; awaiting() tests whether the number is the slot's present one.
  [[nodiscard]] Slot& slot(std::uint64_t call) { return slots_[call % kCalls]; }
  [[nodiscard]] const Slot& slot(std::uint64_t call) const { return slots_[call % kCalls]; }
  // The slot of a call that awaits a reply of `node`, or nullptr. All checks of a reply's number are here.
  [[nodiscard]] Slot* awaiting(std::uint64_t call, std::uint32_t node);
  // The reply is here: the call is done, or if it is abandoned its slot is free.
  void complete(std::uint64_t call);
  // Frees a slot. Keeps its memory, unless that is a long reply's.
  void free(std::uint64_t call);
  // The part of sweep() with something to look at.
  void take_fetched();

  Bodies& bodies_;
  std::array<Slot, kCalls> slots_;
  // Free slots, the next one last; calls with a fetch; done calls with a resumption, the oldest first.
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> fetching_;
  std::deque<std::uint64_t> resumable_;
};

}  // namespace margay::rmi::core
