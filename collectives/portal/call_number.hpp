// Which call of its communicator a message belongs to: what it carries where other messages carry their tag.
//
//   31                                 0
//  | 0 | number of the call: 31         |   calls match in the order in which all members make them (MPI 4.0, 6.14)
//  | 1 | channel: 20 | start: 11        |   persistent ones in the order in which they were made, started in any (6.13)
#pragma once

#include <cstdint>
#include <unordered_map>

#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

class CallNumber {
 public:
  // The call that this member makes after `before` others on the communicator.
  [[nodiscard]] static constexpr CallNumber in_order(std::uint64_t before) {
    return {static_cast<std::uint32_t>(before) & ~kPersistent, before % kGateCalls == kGateCalls - 1};
  }
  // The persistent call of this channel, started `before` times until now.
  [[nodiscard]] static constexpr CallNumber started(std::uint64_t channel, std::uint64_t before) {
    const std::uint32_t start = static_cast<std::uint32_t>(before) & ((1U << kStartBits) - 1);
    const std::uint32_t word = kPersistent | channel_of(channel) << kStartBits | start;
    return {word, before % kGateCalls == 0 || channel_of(channel) >= kChannelsAhead};
  }
  // As it came.
  [[nodiscard]] static constexpr CallNumber of_message(std::uint32_t word) { return {word, false}; }

  [[nodiscard]] constexpr std::uint32_t word() const { return word_; }
  // In each such call every message waits until its receiver is ready, short ones too. So what comes early is bounded
  // by kGateCalls * kHandshakeBytes for each child and communicator (where roots alternate, times the tree's depth),
  // and it is this call that waits: no head-of-line blocking on the wire. Calls in order that do not block begin when
  // the communicator's last gate is over. A persistent call's first start is a gate, then each kGateCalls-th; of those
  // above kChannelsAhead every one.
  [[nodiscard]] constexpr bool is_gate() const { return gate_; }
  // The same call, in which nobody asks.
  [[nodiscard]] constexpr CallNumber without_gate() const { return {word_, false}; }
  [[nodiscard]] constexpr bool is_persistent() const { return (word_ & kPersistent) != 0; }
  // Of a persistent one.
  [[nodiscard]] constexpr std::uint32_t channel() const { return (word_ & ~kPersistent) >> kStartBits; }
  [[nodiscard]] static constexpr std::uint32_t channel_of(std::uint64_t made) {
    return static_cast<std::uint32_t>(made) & ((1U << kChannelBits) - 1);
  }

  // Whether a call of this number is yet to come on a member that made `calls` in order; of a persistent one: where
  // `starts` is how often its channel was started. Fewer than half of all numbers lie between two members.
  [[nodiscard]] constexpr bool comes_after_calls(std::uint64_t calls) const {
    return not_before(word_, static_cast<std::uint32_t>(calls), 32 - 1);
  }
  [[nodiscard]] constexpr bool comes_after_starts(std::uint64_t starts) const {
    return not_before(word_, static_cast<std::uint32_t>(starts), kStartBits);
  }
  // Whether its channel is yet to be made, where `made` were.
  [[nodiscard]] constexpr bool comes_after_channels(std::uint64_t made) const {
    return not_before(channel(), static_cast<std::uint32_t>(made), kChannelBits);
  }
  constexpr bool operator==(const CallNumber& other) const { return word_ == other.word_; }

  static constexpr std::uint64_t kGateCalls = 64;
  static constexpr std::uint32_t kChannelsAhead = 256;
  static constexpr unsigned kStartBits = 11;
  static constexpr unsigned kChannelBits = 20;
  // Members agree on so many channels at once (Notices::open). No member is further ahead of another one.
  static constexpr std::uint64_t kChannelsAtOnce = std::uint64_t{1} << 16;

 private:
  static constexpr std::uint32_t kPersistent = 1U << 31;
  constexpr CallNumber(std::uint32_t word, bool gate) : word_(word), gate_(gate) {}
  // Of the lowest `bits` of both.
  [[nodiscard]] static constexpr bool not_before(std::uint32_t number, std::uint32_t next, unsigned bits) {
    return static_cast<std::int32_t>((number - next) << (32 - bits)) >= 0;
  }

  std::uint32_t word_;
  bool gate_;
};

// The calls of a rank that do not block, in the order of their numbers. One begins when no gate before it on its
// communicator is under way: so a rank that starts 10,000 broadcasts sends 64 ahead, and the
// others wait here, at the caller, not in others' heaps. Persistent ones begin when they are started: others may be
// started in another order elsewhere, and each counts its own gates.

// Where a call stands among those of its communicator. Under the process lock.
class OrderedCall {
 public:
  explicit OrderedCall(mpi_adi::Task& task) : task_(task) {}
  OrderedCall(const OrderedCall&) = delete;
  OrderedCall& operator=(const OrderedCall&) = delete;

 private:
  friend class CallOrder;
  struct Line {
    OrderedCall* first = nullptr;
    OrderedCall* last = nullptr;
  };
  mpi_adi::Task& task_;
  mpi_adi::ContextId context_ = 0;
  Line* line_ = nullptr;  // nullptr: of a persistent one, which stands in none
  bool gate_ = false;
  OrderedCall* next_ = nullptr;
  OrderedCall* previous_ = nullptr;
};

class CallOrder {
 public:
  // `call` is the next one on `communicator`, of this number.
  void enter(OrderedCall& call, const mpi_adi::Communicator& communicator, CallNumber number);
  // It is over. Wakes whoever may begin.
  void leave(OrderedCall& call);
  // Whether no gate before it is under way.
  [[nodiscard]] static bool may_begin(const OrderedCall& call);

 private:
  using Line = OrderedCall::Line;
  // `call` and those after it, to the next gate.
  static void wake_to_gate(OrderedCall* call);
  std::unordered_map<mpi_adi::ContextId, Line> lines_;
};

}  // namespace margay::collectives
