// The number of a collective call on its communicator, which its messages carry where point-to-point messages carry
// their tag.
//
//   31                                 0
//  | 0 | number of the call: 31         |   calls match in the order in which all members make them (MPI 4.0, 6.14)
//  | 1 | channel: 20 | start: 11        |   persistent calls match in the order of their inits, not of starts (6.13)
#pragma once

#include <cstdint>
#include <unordered_map>

#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

// The 32-bit number of a call, and whether the call is a gate. A value. All members compute the same one, from the
// number of earlier calls, or of earlier starts of the channel.
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
  // The number that a message carries. Whether the call is a gate does not travel.
  [[nodiscard]] static constexpr CallNumber of_message(std::uint32_t word) { return {word, false}; }

  // The 32 bits that a message carries.
  [[nodiscard]] constexpr std::uint32_t word() const { return word_; }
  // Whether the call is a gate, in which every message, also a short one, waits until its receiver is ready. So early
  // messages are bounded by kGateCalls * kHandshakeBytes for each child and communicator (times the tree's depth, where
  // the root changes from call to call). In a gate the sender waits in its call, and no message is held on a wire, so
  // there is no head-of-line blocking. Nonblocking calls in order begin when the communicator's last gate is complete.
  // A persistent call's first start is a gate, and then each kGateCalls-th. With a channel of kChannelsAhead or above,
  // every start is a gate.
  [[nodiscard]] constexpr bool is_gate() const { return gate_; }
  // The same call, in which short messages do not wait for their receivers.
  [[nodiscard]] constexpr CallNumber without_gate() const { return {word_, false}; }
  [[nodiscard]] constexpr bool is_persistent() const { return (word_ & kPersistent) != 0; }
  // The channel. Requires: is_persistent().
  [[nodiscard]] constexpr std::uint32_t channel() const { return (word_ & ~kPersistent) >> kStartBits; }
  [[nodiscard]] static constexpr std::uint32_t channel_of(std::uint64_t made) {
    return static_cast<std::uint32_t>(made) & ((1U << kChannelBits) - 1);
  }

  // Whether a member has yet to begin this call. comes_after_calls(): for a call in order; the member has made `calls`
  // such calls. comes_after_starts(): for a persistent call; the member has started its channel `starts` times. Numbers
  // wrap: the comparison holds while fewer than half of all numbers lie between two members.
  [[nodiscard]] constexpr bool comes_after_calls(std::uint64_t calls) const {
    return not_before(word_, static_cast<std::uint32_t>(calls), 32 - 1);
  }
  [[nodiscard]] constexpr bool comes_after_starts(std::uint64_t starts) const {
    return not_before(word_, static_cast<std::uint32_t>(starts), kStartBits);
  }
  // Whether a member that has made `made` channels has not yet made this call's channel.
  [[nodiscard]] constexpr bool comes_after_channels(std::uint64_t made) const {
    return not_before(channel(), static_cast<std::uint32_t>(made), kChannelBits);
  }
  // Two calls are equal if their messages match; whether a call is a gate is not compared.
  constexpr bool operator==(const CallNumber& other) const { return word_ == other.word_; }

  // Each kGateCalls-th call of a communicator is a gate.
  static constexpr std::uint64_t kGateCalls = 64;
  // Channels below this number have a gate only in each kGateCalls-th start. The limit bounds the early messages of
  // many channels.
  static constexpr std::uint32_t kChannelsAhead = 256;
  // Widths of the fields of a persistent call's number.
  static constexpr unsigned kStartBits = 11;
  static constexpr unsigned kChannelBits = 20;
  // The number of channels that members agree on at once (Notices::open). No member is further than this ahead of
  // another.
  static constexpr std::uint64_t kChannelsAtOnce = std::uint64_t{1} << 16;

 private:
  static constexpr std::uint32_t kPersistent = 1U << 31;
  constexpr CallNumber(std::uint32_t word, bool gate) : word_(word), gate_(gate) {}
  // Whether `number` is `next` or later, by the lowest `bits` of both (serial number arithmetic).
  [[nodiscard]] static constexpr bool not_before(std::uint32_t number, std::uint32_t next, unsigned bits) {
    return static_cast<std::int32_t>((number - next) << (32 - bits)) >= 0;
  }

  std::uint32_t word_;
  bool gate_;
};

// The nonblocking calls of a rank, in the order of their numbers. A call begins when no gate before it on its
// communicator is in progress. So a rank that starts 10,000 broadcasts sends 64 ahead, and the remaining ones wait in
// that rank, not in others' heaps. Persistent calls begin when they are started: other members may start them in
// another order, and each channel has gates of its own.

// A call's link in the list of its communicator's nonblocking calls. The call owns it. `task` is woken when the call
// may begin. Under the process lock.
class OrderedCall {
 public:
  explicit OrderedCall(mpi_adi::Task& task) : task_(task) {}
  OrderedCall(const OrderedCall&) = delete;
  OrderedCall& operator=(const OrderedCall&) = delete;

 private:
  friend class CallOrder;
  // The calls of one communicator that are not complete, oldest first. A node of CallOrder's table, so its address is
  // constant.
  struct Line {
    OrderedCall* first = nullptr;
    OrderedCall* last = nullptr;
  };
  mpi_adi::Task& task_;
  mpi_adi::ContextId context_ = 0;
  // Null for a persistent call, which is in no list.
  Line* line_ = nullptr;
  bool gate_ = false;
  OrderedCall* next_ = nullptr;
  OrderedCall* previous_ = nullptr;
};

// The lists of all communicators of one rank. TreePortal owns it. Under the process lock. Allocates only for a
// communicator's first call in progress.
class CallOrder {
 public:
  // Appends `call`, the next one on `communicator`, with this number.
  void enter(OrderedCall& call, const mpi_adi::Communicator& communicator, CallNumber number);
  // Removes a complete call. If the call was a gate, wakes the calls that may begin now.
  void leave(OrderedCall& call);
  // Whether no gate before `call` is in progress. At most kGateCalls steps.
  [[nodiscard]] static bool may_begin(const OrderedCall& call);

 private:
  using Line = OrderedCall::Line;
  // Wakes `call` and those after it, up to the next gate.
  static void wake_to_gate(OrderedCall* call);
  std::unordered_map<mpi_adi::ContextId, Line> lines_;
};

}  // namespace margay::collectives
