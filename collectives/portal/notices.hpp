// The ready portal (paper 001, section 3.2): notices, the control messages between members of a collective call. Most
// of them report that a receiver is ready for a long message. Offers ask a receiver that is slow to report this; the
// others arise when members' calls do not fit each other, or a process is lost.
//
// A notice is a header without a body:
//   match bits     the call's number, the sender, the context, and as message type the kind (NoticeKind)
//   user data      the sender's description of the call (Shape)
//   offset         the communicator's generation
//   return portal  of a "ready" for a stream: the portal to stream to
//
// This process keeps at most kEarlyMax notices of calls that it has not begun. Beyond that, it drops offers and "ready"
// notices. A dropped offer needs no repetition, because this process sends its "ready" when it begins the call. A
// dropped "ready" is repeated on request: once this process has dropped any notice, each offer that it sends asks the
// receiver to repeat its "ready". So this portal always has room, and no wire stops for it, however many calls other
// ranks have in progress.
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

// A member's description of a call. If the shapes of two members differ, their calls do not fit each other.
struct Shape {
  // An Operation (cost/facts); 0: an agreement on a context.
  std::uint8_t operation = 0;
  // The chosen algorithm's number (cost/facts); members that name different lengths may choose different ones.
  std::uint8_t algorithm = 0;
  // Rank on the communicator; kTop for operations without a root.
  std::uint16_t root = 0;
  // Bytes of one rank's data.
  std::uint64_t bytes = 0;
  bool operator==(const Shape&) const = default;
};
// The shape as bytes of a notice's user data.
void write_shape(portals::UserData& data, const Shape& shape);
[[nodiscard]] Shape read_shape(const portals::UserData& data);
// The limit of early notices that a process keeps. In a correct program there is one for each peer and each call by
// which the peer is ahead.
inline constexpr std::size_t kEarlyMax = std::size_t{1} << 16;

// The kinds of notices.
enum class NoticeKind : std::uint8_t {
  // "Send me your message." The answer is that message, `refuse` or `unserved`.
  ready = 0,
  // The same in the call's second phase.
  ready_next_phase = 1,
  // "I have a long message for you, and you have not asked for it." No answer if the member will ask for it.
  offer = 2,
  // Answers an offer: the call is complete on the answering side. An error, unless that side had sent its "ready"
  // before.
  past = 3,
  // The sender sends no (further) message to this member in this call.
  refuse = 4,
  // To all members: the calls do not fit each other. Waits for messages may end.
  wrong = 5,
  // Answers `ready`: the call is complete on the answering side, and was a different call.
  unserved = 6,
  // As `refuse`: a process is lost, and with it the data for this member.
  lost = 7,
  // Never sent: these two record a "ready" that this call has sent, so that it can be repeated if the member dropped
  // it.
  asked = 8,
  asked_next_phase = 9,
};

// The part of a call's state that other members' notices change. Collective owns it; Notices links it while the call is
// in progress. Under the process lock.
struct CallState {
  mpi_adi::Communicator& communicator;
  CallNumber number;
  Shape shape = {};
  // Null for a blocking call. Woken by each notice of the call.
  mpi_adi::Task* task = nullptr;
  // False while a nonblocking call has only its number; notices of the call are then kept as early ones.
  bool begun = false;
  // The call's first error; 0 is MPI_SUCCESS.
  int error_class = 0;
  // A member found that the calls do not fit each other.
  bool wrong = false;
  // A notice that a member sent in this call, or that this process sent to it (`asked`).
  struct NoticeRecord {
    int member;
    // One of: ready, ready_next_phase, refuse, lost, offer, asked, asked_next_phase.
    NoticeKind kind;
    // The portal of the stream for which the member (`ready`) or this process (`asked`) is ready.
    portals::PortalIndex portal = portals::kNoPortal;
  };
  // In order of arrival; searched linearly.
  std::vector<NoticeRecord> notice_records = {};
  // Links among the calls of its bucket (Notices::active_).
  CallState* next = nullptr;
  CallState** link = nullptr;

  // Searches of the notices that arrived: by member and kind, by kind alone, and for either kind of refusal. Linear in
  // their number, which is small in a correct call.
  [[nodiscard]] const NoticeRecord* find_notice(int member, NoticeKind kind) const {
    for (const NoticeRecord& each : notice_records) {
      if (each.member == member && each.kind == kind) return &each;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_notice(int member, NoticeKind kind) const { return find_notice(member, kind) != nullptr; }
  // Whether the member sends nothing more in this call.
  [[nodiscard]] bool refuses(int member) const {
    return has_notice(member, NoticeKind::refuse) || has_notice(member, NoticeKind::lost);
  }
  [[nodiscard]] bool any_sent(NoticeKind kind) const {
    for (const NoticeRecord& each : notice_records) {
      if (each.kind == kind) return true;
    }
    return false;
  }
  [[nodiscard]] bool any_refuses() const { return any_sent(NoticeKind::refuse) || any_sent(NoticeKind::lost); }
};

// The channel of a persistent call: the part of its number that identifies it among the communicator's persistent
// calls. The call owns it. Under the process lock.
struct Channel {
  mpi_adi::Communicator& communicator;
  // The number of channels used before this one. Its low bits (CallNumber::channel_of), which messages carry, are
  // unique among the communicator's persistent calls that any member still has.
  std::uint64_t number = 0;
  // The number of times that the call was started.
  std::uint64_t starts = 0;
};

// The message for MPI_ERR_TRUNCATE of a collective call.
inline constexpr const char* kDifferentCalls =
    "the ranks made different calls, or named different amounts of data (--check-types reports which)";

// The ready portal of one rank: sends notices, and delivers arrived ones to the calls in progress. TreePortal owns it.
// Under the process lock.
class Notices final : public mpi_adi::Listener {
 public:
  // Takes portal 4 of the host's table. `early_max`: the most early notices that are kept. Requires: no message has
  // arrived yet.
  explicit Notices(Host& host, std::size_t early_max = kEarlyMax);
  ~Notices() override;

  // The number of the next call on `communicator`.
  [[nodiscard]] CallNumber take_number(mpi_adi::Communicator& communicator) {
    if (communicator.collective_sequence == 0) [[unlikely]]
      meet(communicator);
    return CallNumber::in_order(communicator.collective_sequence++);
  }
  // Opens a persistent call's channel; close() frees it, and `channel` stays at its address in between. Channels are
  // used in a ring, in the order in which the calls are made. All members skip the channels that a call of some member
  // still has. Returns false if the members must first agree which of the next kChannelsAtOnce channels are free: each
  // of them then calls agreed_on_channels() with the bitwise and of the results of free_channels() on all members.
  [[nodiscard]] bool open(Channel& channel);
  [[nodiscard]] std::vector<std::uint64_t> free_channels(const mpi_adi::Communicator& communicator) const;
  static void agreed_on_channels(mpi_adi::Communicator& communicator, std::vector<std::uint64_t> free);
  void close(const Channel& channel);
  // The number of a persistent call's next start.
  [[nodiscard]] static CallNumber take_number(Channel& channel) {
    return CallNumber::started(channel.number, channel.starts++);
  }
  // Links a call that has its number, until end(). Notices of the call that arrive before begin() are kept as early
  // ones, and begin() delivers them. `call` must stay at its address.
  void enter(CallState& call) {
    CallState*& first = bucket(call_key(call));
    call.next = first;
    call.link = &first;
    if (first != nullptr) first->link = &call.next;
    first = &call;
  }
  // The same for a nonblocking call, of which thousands may be in progress: the table grows with their number.
  void enter_nonblocking(CallState& call) {
    if (nonblocking_++ > buckets_mask_) [[unlikely]]
      grow();
    enter(call);
  }
  void begin(CallState& call) {
    call.begun = true;
    if (early_ != 0) [[unlikely]]
      deliver_early(call.communicator, call.number);
  }
  // Removes a call, complete or failed. Later notices of it are answered as those of a past call.
  void end(CallState& call);

  // Wakes the nonblocking call that a message of the tree portal belongs to, if any.
  void wake(const portals::Header& header) { wake(call_key(header)); }

  // Sends `member` a notice of this call, which needs no memory of the caller. Not for NoticeKind::wrong, which
  // find_wrong() sends.
  void send(const CallState& call, int member, NoticeKind kind, portals::PortalIndex stream = portals::kNoPortal) {
    send(call, member, kind, stream, false);
  }
  // The same for `ready` and `ready_next_phase`, which are recorded: a member that dropped one asks for it again.
  void send_ready(CallState& call, int member, NoticeKind kind, portals::PortalIndex stream) {
    call.notice_records.push_back(
        {member, kind == NoticeKind::ready ? NoticeKind::asked : NoticeKind::asked_next_phase, stream});
    send(call, member, kind, stream, false);
  }
  // The same for an offer, to a member whose "ready" has not arrived. Asks for a repetition if this process has dropped
  // any notice.
  void send_offer(const CallState& call, int member) {
    send(call, member, NoticeKind::offer, portals::kNoPortal, dropped_ != 0);
  }
  // Records that the calls do not fit each other and notifies all members, once.
  void find_wrong(CallState& call);
  // Forgets a communicator whose contexts are about to be reused. Later notices of its calls are answered as those of
  // complete calls.
  void discard(const mpi_adi::Communicator& communicator);

  // Delivers the notices that have arrived, and keeps those of calls that have not begun. Called in a round of
  // progress.
  void notify() override;

  // Early notices that are kept, and the number of those dropped since the beginning.
  [[nodiscard]] std::uint64_t early() const { return early_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  // Identifies a call: the bits of its number and its context, as in a notice's match bits.
  using CallKey = portals::MatchBits;
  // The latest communicator on which this process has made calls in a context.
  struct Known {
    const mpi_adi::Communicator* communicator = nullptr;  // null: freed
    std::uint64_t generation = 0;
    // Generations of freed communicators in this context: the latest kPastKept.
    std::vector<std::uint64_t> past;
    // Early notices by call, those of persistent calls by channel. Their order does not matter: no notice changes the
    // meaning of another one.
    std::unordered_multimap<CallKey, portals::Header> early;
  };

  [[nodiscard]] static CallKey call_key(const portals::Header& header) {
    return header.match_bits & (mpi_adi::kTagMask | mpi_adi::kContextMask);
  }
  [[nodiscard]] static CallKey call_key(const CallState& call) {
    return mpi_adi::envelope_bits(static_cast<int>(call.number.word()), 0, call.communicator.collective_context);
  }
  // Mixes the three parts of a key: calls in order have consecutive numbers, persistent ones consecutive channels.
  [[nodiscard]] CallState*& bucket(CallKey key) {
    const CallKey mixed = key >> mpi_adi::kTagShift ^ key >> (mpi_adi::kTagShift + CallNumber::kStartBits) ^
                          key >> mpi_adi::kContextShift;
    return active_[mixed & buckets_mask_];
  }
  // Doubles the table. Out of line: not on the path of a blocking call.
  [[gnu::noinline]] void grow();

  // The common part of the public forms. `again`: ask the receiver to repeat its "ready".
  void send(const CallState& call, int member, NoticeKind kind, portals::PortalIndex stream, bool again);
  // Wakes the task of the call with this key, if the call is a nonblocking one.
  void wake(CallKey key);
  // Records a communicator's first call, and delivers the notices of it that arrived early.
  void meet(const mpi_adi::Communicator& communicator);
  void deliver_early(const mpi_adi::Communicator& communicator, CallNumber number);
  // Keeps a notice, or drops it if it can be repeated and kEarlyMax are kept.
  void keep_early(const portals::Header& header);
  // Delivers the early notices of a context whose communicator has changed.
  void deliver_early(Known& known);
  // Whether the call of this number on `communicator` is yet to begin here.
  [[nodiscard]] bool is_yet_to_begin(CallNumber number, const mpi_adi::Communicator& communicator) const;
  // Delivers or answers a notice. Returns false if its call may still begin here.
  [[nodiscard]] bool deliver(const portals::Header& header);
  void deliver_to_call(CallState& call, const portals::Header& header);
  // Repeats the "ready" that this call sent to `member`, if it sent one.
  void repeat_ready(const CallState& call, int member);
  // Answers a notice whose call is complete here, if its sender waits for an answer.
  void answer_past(const portals::Header& header);
  // Sends a notice, or queues it while its wire has no room.
  void transmit(const portals::Header& header);

  Host& host_;
  mpi_adi::HeapMemory memory_;
  portals::DynamicBlock block_;
  portals::MatchList list_;
  portals::MatchEntry catch_all_;
  // Calls that have their number and are not complete: a hash table by number, with the chain in the calls themselves.
  // So a call allocates nothing unless the table grows, and a notice finds its call among thousands.
  std::unique_ptr<CallState*[]> active_;
  std::size_t buckets_mask_;     // number of buckets, a power of two, minus 1
  std::size_t nonblocking_ = 0;  // nonblocking calls in the table
  std::size_t early_max_;
  std::size_t early_ = 0;  // kept early notices in all contexts
  std::uint64_t dropped_ = 0;
  std::unordered_map<mpi_adi::ContextId, Known> known_;
  std::unordered_map<std::uint64_t, const Channel*> channels_;  // by context and channel
  // Notices that their wires have not taken.
  std::list<sim::Transmission> transmissions_;
  // Finished transmissions are erased when the list has this length. The length is at least twice that after the last
  // sweep, so the amortized cost of a notice does not depend on how many are queued.
  std::size_t sweep_at_ = 0;
};

}  // namespace margay::collectives
