// The ready portal (paper 001, section 3.2): what the members of a communicator tell each other about a collective call
// beside its data. Nearly all of it is a child's word that it is ready for a long message; the others come of calls
// that do not fit each other.
//
// A notice is a header: number of the call, sender and context in the match bits, its word in the bits of the message
// type; in the user data what the sender takes the call for, in the offset the communicator's generation.
//
// Notices of calls that this process has not begun are kept, at most kEarlyMax. Beyond that the ones that can be
// repeated are dropped: an offer, because its receiver asks when it begins; a "ready", because its receiver offers when
// it begins, and asks for a repetition once it has dropped any. So this portal always has room, and a wire never stops
// for it, however many calls the others have under way.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "collectives/portal/call_number.hpp"
#include "collectives/portal/host.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::collectives {

// What a member takes a call for: the same on all, or they do not fit each other.
struct Shape {
  std::uint8_t operation = 0;  // of cost/facts; 0 an agreement on a context
  std::uint8_t algorithm = 0;
  std::uint16_t root = 0;
  std::uint64_t bytes = 0;  // of one rank's data
  bool operator==(const Shape&) const = default;
};
void write_shape(portals::UserData& data, const Shape& shape);
[[nodiscard]] Shape read_shape(const portals::UserData& data);
// Early notices kept by a process. A correct program has one for each peer and each call that the peer is ahead with.
inline constexpr std::size_t kEarlyMax = std::size_t{1} << 16;

enum class Word : std::uint8_t {
  ready = 0,             // "send me yours": the answer is that message, refuse or unserved
  ready_next_phase = 1,  // likewise, of the call's second phase
  offer = 2,     // "I have a long one for you, and you have not asked for it": no answer, if it will be asked for
  past = 3,      // to an offer: my call is over. Says nothing new to whom it asked before
  refuse = 4,    // from me comes no message for you (any more) in this call
  wrong = 5,     // to all: our calls do not fit each other. Who waits need not wait any longer
  unserved = 6,  // to ready: my call is over, and was another one
  lost = 7,      // as refuse: a process is lost, and with it what I was to send you
  // Not words of a notice: this call's own "ready", kept with what was said, to be repeated if the member dropped it.
  asked = 8,
  asked_next_phase = 9,
};

// One call of this process, as far as others ask about it. Under the process lock.
struct CallState {
  mpi_adi::Communicator& communicator;
  CallNumber number;
  Shape shape = {};
  mpi_adi::Task* task = nullptr;  // of a call that does not block: woken when something was said
  bool begun = false;             // it has its number from the beginning; what is said before waits
  int error_class = 0;            // MPI_SUCCESS
  bool wrong = false;             // a member found that the calls do not fit each other
  struct Said {
    int member;
    Word word;                                         // ready, ready_next_phase, refuse, lost, offer, asked
    portals::PortalIndex portal = portals::kNoPortal;  // ready for a stream, or asked for one: to this one
  };
  std::vector<Said> said = {};
  // Among the calls of its bucket (Notices::active_).
  CallState* next = nullptr;
  CallState** link = nullptr;

  [[nodiscard]] const Said* find_said(int member, Word word) const {
    for (const Said& each : said) {
      if (each.member == member && each.word == word) return &each;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_said(int member, Word word) const { return find_said(member, word) != nullptr; }
  // Nothing comes from the member.
  [[nodiscard]] bool refuses(int member) const {
    return has_said(member, Word::refuse) || has_said(member, Word::lost);
  }
  [[nodiscard]] bool anybody_says(Word word) const {
    for (const Said& each : said) {
      if (each.word == word) return true;
    }
    return false;
  }
  [[nodiscard]] bool anybody_refuses() const { return anybody_says(Word::refuse) || anybody_says(Word::lost); }
};

// A persistent call of this process. Under the process lock.
struct Channel {
  mpi_adi::Communicator& communicator;
  std::uint64_t number =
      0;  // its channel: the first call's is 0, a later one's is higher; without its high bits unique
  std::uint64_t starts = 0;
};

// What MPI_ERR_TRUNCATE of a collective call means.
inline constexpr const char* kDifferentCalls =
    "the ranks made different calls, or named different amounts of data (--check-types tells which)";

class Notices final : public mpi_adi::Listener {
 public:
  // Takes portal 4 of the host's table. Requires: no message has arrived yet.
  explicit Notices(Host& host, std::size_t early_max = kEarlyMax);
  ~Notices() override;

  // The number of the next call on `communicator`.
  [[nodiscard]] CallNumber take_number(mpi_adi::Communicator& communicator) {
    if (communicator.collective_sequence == 0) [[unlikely]]
      meet(communicator);
    return CallNumber::in_order(communicator.collective_sequence++);
  }
  // A persistent call is made, and goes; it stays where it is in between. Channels are taken in a ring, in the order in
  // which the calls are made; one that a call of some member still has is passed over, on all members alike. false: the
  // members have to agree on kChannelsAtOnce more first. Each calls agreed_on_channels() with the bitwise and of
  // what free_channels() gave on all of them.
  [[nodiscard]] bool open(Channel& channel);
  [[nodiscard]] std::vector<std::uint64_t> free_channels(const mpi_adi::Communicator& communicator) const;
  static void agreed_on_channels(mpi_adi::Communicator& communicator, std::vector<std::uint64_t> free);
  void close(const Channel& channel);
  // The number of its next start.
  [[nodiscard]] static CallNumber take_number(Channel& channel) {
    return CallNumber::started(channel.number, channel.starts++);
  }
  // A call has its number, begins, and ends. It stays where it is in between.
  void enter(CallState& call) {
    CallState*& first = bucket(call_key(call));
    call.next = first;
    call.link = &first;
    if (first != nullptr) first->link = &call.next;
    first = &call;
  }
  // One that stops, of which thousands may be under way: the table grows with their number.
  void enter_stopping(CallState& call) {
    if (stopping_++ > buckets_mask_) [[unlikely]]
      grow();
    enter(call);
  }
  void begin(CallState& call) {
    call.begun = true;
    if (early_ != 0) [[unlikely]]
      hear_early(call.communicator, call.number);
  }
  void end(CallState& call);

  // Wakes the call that a message of the tree portal belongs to, if it is one that stops.
  void wake(const portals::Header& header) { wake(call_key(header)); }

  // Tells `member` a word of this call, of which nothing is the caller's to keep. Never wrong, which find_wrong() says.
  void tell(const CallState& call, int member, Word word, portals::PortalIndex stream = portals::kNoPortal) {
    tell(call, member, word, stream, false);
  }
  // The same of "ready" or "ready_next_phase", which is kept: a member that dropped it asks for it again.
  void tell_ready(CallState& call, int member, Word word, portals::PortalIndex stream) {
    call.said.push_back({member, word == Word::ready ? Word::asked : Word::asked_next_phase, stream});
    tell(call, member, word, stream, false);
  }
  // The same of an offer, to a member whose "ready" has not been heard: it may have been dropped here.
  void tell_offer(const CallState& call, int member) {
    tell(call, member, Word::offer, portals::kNoPortal, dropped_ != 0);
  }
  // This process finds that the calls do not fit each other: all members are told, once.
  void find_wrong(CallState& call);
  // Its contexts are about to be given back.
  void forget(const mpi_adi::Communicator& communicator);

  void told() override;

  // Early notices that are kept, and that were dropped.
  [[nodiscard]] std::uint64_t early() const { return early_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  // Names a call on its communicator, in a notice's match bits and here: those of its number and the context.
  using CallKey = portals::MatchBits;
  // Whose calls this process last had in a context.
  struct Known {
    const mpi_adi::Communicator* communicator = nullptr;  // null: freed
    std::uint64_t generation = 0;
    std::vector<std::uint64_t> past;  // generations of those that were freed: the latest kPastKept
    // Of calls that this process has not begun, by the call, of persistent ones by the channel. In any order: of these
    // words none changes what another one means.
    std::unordered_multimap<CallKey, portals::Header> early;
  };

  [[nodiscard]] static CallKey call_key(const portals::Header& header) {
    return header.match_bits & (mpi_adi::kTagMask | mpi_adi::kContextMask);
  }
  [[nodiscard]] static CallKey call_key(const CallState& call) {
    return mpi_adi::envelope_bits(static_cast<int>(call.number.word()), 0, call.communicator.collective_context);
  }
  // Calls in order have numbers in a row, persistent ones channels.
  [[nodiscard]] CallState*& bucket(CallKey key) {
    const CallKey mixed = key >> mpi_adi::kTagShift ^ key >> (mpi_adi::kTagShift + CallNumber::kStartBits) ^
                          key >> mpi_adi::kContextShift;
    return active_[mixed & buckets_mask_];
  }
  [[gnu::noinline]] void grow();

  void tell(const CallState& call, int member, Word word, portals::PortalIndex stream, bool again);
  void wake(CallKey key);
  void meet(const mpi_adi::Communicator& communicator);
  void hear_early(const mpi_adi::Communicator& communicator, CallNumber number);
  void keep_early(const portals::Header& header);
  // Of a context, where something else is known now.
  void hear_early(Known& known);
  // Whether the call on `communicator` that it names is yet to begin here.
  [[nodiscard]] bool comes_yet(CallNumber number, const mpi_adi::Communicator& communicator) const;
  // false: its call may come yet.
  [[nodiscard]] bool hear(const portals::Header& header);
  void hear_in_call(CallState& call, const portals::Header& header);
  void repeat_ready(const CallState& call, int member);
  void answer_past(const portals::Header& header);
  void transmit(const portals::Header& header);

  Host& host_;
  mpi_adi::HeapMemory memory_;
  portals::DynamicBlock block_;
  portals::MatchList list_;
  portals::MatchEntry catch_all_;
  // Those that have their number and are not over, by it, linked through themselves: a call allocates nothing unless
  // more are under way than ever, and with thousands of them a notice finds its own.
  std::unique_ptr<CallState*[]> active_;
  std::size_t buckets_mask_;  // their number is a power of two
  std::size_t stopping_ = 0;  // of the calls, those that stop
  std::size_t early_max_;
  std::size_t early_ = 0;  // in all contexts
  std::uint64_t dropped_ = 0;
  std::unordered_map<mpi_adi::ContextId, Known> known_;
  std::unordered_map<std::uint64_t, const Channel*> channels_;  // by context and number
  std::list<sim::Transmission> under_way_;
  // Those that were given back are erased when the list is so long: twice as long as after the last time, so that each
  // word costs the same however many are queued.
  std::size_t sweep_at_ = 0;
};

}  // namespace margay::collectives
