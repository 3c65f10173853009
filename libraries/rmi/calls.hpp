// The calls of one node whose results are awaited (paper, 6.4). At most kCalls at once, so that the heap of their
// replies cannot overflow.
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

class Calls {
 public:
  explicit Calls(Bodies& bodies) : bodies_(bodies) {
    free_.reserve(kCalls);
    for (std::uint32_t slot = kCalls; slot-- > 0;) free_.push_back(slot);
  }

  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] bool idle() const { return free_.size() == kCalls; }
  // A new call of a method at `node`; its number is never 0. Requires: !full().
  [[nodiscard]] std::uint64_t begin(std::uint32_t node);
  // The call's request was not written, so that no reply will arrive. Frees the call's place.
  void cancel(std::uint64_t call) { free(call); }
  [[nodiscard]] bool done(std::uint64_t call) const { return slot(call).state == State::done; }
  [[nodiscard]] std::uint32_t node(std::uint64_t call) const { return slot(call).node; }
  [[nodiscard]] std::span<const std::byte> reply(std::uint64_t call) const {
    return {slot(call).reply.get(), slot(call).bytes};
  }
  // Makes the call one that resumes something when its reply is there; its parity is that of requests now.
  struct Resumption {
    void (*resume)(void*) = nullptr;
    void* argument = nullptr;
    bool parity = false;
  };
  void await(std::uint64_t call, const Resumption& resumption) {
    slot(call).resumption = resumption;
    if (done(call)) resumable_.push_back(call);
  }
  // Whether a call with a resumption has its reply, and the oldest one, which is then over.
  [[nodiscard]] bool resumable() const { return !resumable_.empty(); }
  [[nodiscard]] Resumption take_resumption();
  // Gives up the call's resumption, if it has one. Returns it.
  [[nodiscard]] Resumption give_up(std::uint64_t call);
  // Frees the call's place, now or when its reply arrives.
  void end(std::uint64_t call);

  // A reply of `node`, or the notice of a long one, which is fetched. Returns false if the call awaits no reply of it.
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
  // `abandoned`: nobody waits for the reply any more.
  enum class State : std::uint8_t { free, awaited, done, abandoned };
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
  [[nodiscard]] Slot& slot(std::uint64_t call) { return slots_[call % kCalls]; }
  [[nodiscard]] const Slot& slot(std::uint64_t call) const { return slots_[call % kCalls]; }
  // The slot of a call that awaits a reply of `node`, or nullptr.
  [[nodiscard]] Slot* awaiting(std::uint64_t call, std::uint32_t node);
  void complete(std::uint64_t call);
  void free(std::uint64_t call);
  void take_fetched();

  Bodies& bodies_;
  std::array<Slot, kCalls> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> fetching_;
  std::deque<std::uint64_t> resumable_;
};

}  // namespace margay::rmi::core
