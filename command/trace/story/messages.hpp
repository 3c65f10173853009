// The messages of a trace, each with all of its hops: header and body, acknowledgment, pull (a get and its reply),
// synchronous answer. The trace records each hop as a message of its own; this index joins them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "command/trace/read/filter.hpp"
#include "command/trace/read/reader.hpp"

namespace margay::command {

// Whether an event about a request of rank `rank` belongs to a receive. Sends and receives are numbered separately, so
// the number alone does not identify the request.
[[nodiscard]] inline bool is_of_receive(const sim::TraceEvent& event, std::uint32_t rank) {
  return event.destination == rank && event.protocol == sim::TraceProtocol::none;
}

// Hash of an identity. The multiplication spreads the pair of ranks over all bits, so consecutive sequence numbers of
// different pairs rarely collide.
struct MessageHash {
  std::size_t operator()(const MessageIdentity& message) const {
    const std::uint64_t pair = std::uint64_t{message.source} << 32U | message.destination;
    return std::hash<std::uint64_t>()(pair * 0x9e37'79b9'7f4a'7c15U ^ message.sequence);
  }
};

// The kind of object that accepted a message.
enum class Taker : std::uint8_t {
  none,     // nothing, as far as the trace shows
  receive,  // an MPI receive: posted before the message arrived, or through the heap of unexpected messages
  window,   // a window's memory, or the service for accesses of it
  entry,    // a match entry or portal of the program, or one of the library's own
  heap,     // an entry or portal as in `entry`, with a dynamic block
};

// One message with all its hops. Fields of type std::size_t are indices in trace.entries: each leads to the first event
// of the kind that its comment names. kNone: the trace has none.
struct MessageStory {
  static constexpr std::size_t kNone = ~std::size_t{0};
  MessageIdentity identity;
  // Events of all its hops and of the receive that took it, by time.
  std::vector<std::size_t> steps;
  std::size_t begin = kNone;    // send_begin, or else kernel_send
  std::size_t sent = kNone;     // kernel_send
  std::size_t arrived = kNone;  // kernel_arrive or kernel_get_arrived
  std::size_t matched = kNone;  // kernel_match
  std::size_t dropped = kNone;  // kernel_drop
  // kernel_hold: its wire kept the message until there was room.
  std::size_t held = kNone;
  // kernel_deposit: all parts of the message that the receiver keeps have arrived.
  std::size_t kept = kNone;
  std::size_t posted = kNone;    // post_receive of the receive that took it
  std::size_t searched = kNone;  // search_hit: it was unexpected
  // Each event of a probe that found it.
  std::vector<std::size_t> found;
  std::size_t pulled = kNone;      // pull_begin
  std::size_t pull_ended = kNone;  // pull_complete
  std::size_t received = kNone;    // receive_complete; a message without a receive has only `kept`
  std::size_t completed = kNone;   // request_complete of the sender
  // given_back: the message left the heap of unexpected messages without a receive.
  std::size_t given_back = kNone;
  // The message is a get, which has no body; its reply has one.
  bool is_get = false;
  // It left the heap because its sender cancelled it.
  bool cancelled = false;
  // The heap of unexpected messages took it.
  bool unexpected = false;
  Taker taker = Taker::none;
  // Cancelled before its wire had begun to send it; an empty message took its number.
  bool taken_back = false;
};

// Index of a trace's messages, calls and waits. The constructor makes two passes over the trace; story() then costs the
// message's own steps. Immutable afterwards, so threads may share it.
class Messages {
 public:
  // `trace` must outlive the index.
  explicit Messages(const Trace& trace);

  // All messages that are not a hop of another message, by the time of their first event.
  [[nodiscard]] const std::vector<MessageIdentity>& roots() const { return roots_; }
  // The message that `hop` belongs to; `hop` itself when it belongs to none.
  [[nodiscard]] MessageIdentity root_of(MessageIdentity hop) const;
  // Head-of-line blocking: an earlier message of the same pair was held for lack of room while this header was behind
  // it.
  struct Blocked {
    // The latest of the blocking messages.
    MessageIdentity by;
    // Summed over all of them; 0: none blocked it.
    std::uint64_t ns = 0;
  };
  // Cost: compares the message with every kernel_hold of the trace.
  [[nodiscard]] Blocked blocked(const MessageStory& story) const;
  // The entry at which the message left the wire that held it: its kernel_match or kernel_drop; kNone: held to the end.
  [[nodiscard]] static std::size_t hold_end(const MessageStory& story) {
    return story.matched != MessageStory::kNone ? story.matched : story.dropped;
  }
  // Collects the message's steps. The result has no steps when the trace has no event of `root`.
  [[nodiscard]] MessageStory story(const MessageIdentity& root) const;
  // The event of the arrival of `hop`'s header; nullptr: it is not in the trace.
  [[nodiscard]] const sim::TraceEvent* arrival(const MessageIdentity& hop) const;
  // Whether the rank's file lost no event, so that an absent event did not happen.
  [[nodiscard]] bool is_whole(std::uint32_t rank) const;
  // The same for events after entry `at`: a ring that wrapped has lost only its beginning.
  [[nodiscard]] bool is_whole_after(std::uint32_t rank, std::size_t at) const;
  // The call in progress in the rank when it recorded entry `at`, as the index of its mpi_enter; kNone: none.
  [[nodiscard]] std::size_t call_around(std::size_t at) const { return calls_[at]; }
  // Whether the file has calls of several threads. call_around() may then return another thread's call.
  [[nodiscard]] bool has_threads(std::uint32_t file) const { return has_threads_[file]; }
  // The index of the mpi_leave of mpi_enter `enter`; kNone: it is not in the trace.
  [[nodiscard]] std::size_t leave_of(std::size_t enter) const;
  // Nanoseconds that the call of mpi_enter `enter` waited in total, without nested calls; a wait that is open at the
  // end of the recording counts up to there.
  [[nodiscard]] std::uint64_t waited_in(std::size_t enter) const;

 private:
  [[nodiscard]] std::vector<std::size_t> steps_of(const MessageIdentity& root) const;
  void record_step(std::size_t at, MessageStory& story) const;
  [[nodiscard]] Taker taker_of(const Trace::Entry& matched) const;
  void find_receive(MessageStory& story) const;
  [[nodiscard]] std::size_t last_before(std::uint32_t file, std::uint32_t request, sim::TraceKind kind,
                                        std::size_t until) const;
  [[nodiscard]] static std::uint64_t receive_key(std::uint32_t file, std::uint32_t request) {
    return std::uint64_t{file} << 32U | request;
  }
  void record_hops();
  void record_calls();
  void record_open_wait(const std::vector<std::size_t>& calls, std::size_t wait_begun);

  const Trace& trace_;
  // By the identity in the event.
  std::unordered_map<MessageIdentity, std::vector<std::size_t>, MessageHash> events_;
  // Hop to the message that it answers or serves; hops_ is the inverse.
  std::unordered_map<MessageIdentity, MessageIdentity, MessageHash> part_of_;
  std::unordered_map<MessageIdentity, std::vector<MessageIdentity>, MessageHash> hops_;
  // By receive_key(): the posts and heap misses of each receive request.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> receives_;
  // Every kernel_hold, for blocked().
  std::vector<std::size_t> holds_;
  std::vector<MessageIdentity> roots_;
  // By entry: call_around().
  std::vector<std::size_t> calls_;
  // By file.
  std::vector<bool> has_threads_;
  // By file: its program used MPI, so portals have the device's meaning.
  std::vector<bool> is_mpi_;
  // Each file's first entry, from which on a wrapped file is whole.
  std::vector<std::size_t> first_;
  struct CallRecord {
    std::size_t leave = MessageStory::kNone;
    std::uint64_t waited_ns = 0;
  };
  // The record of the call of mpi_enter `enter`, created when the call ends or waits; a call that does neither in the
  // trace has no record.
  [[nodiscard]] CallRecord& call_of(std::size_t enter);
  static constexpr std::uint32_t kNoCall = ~std::uint32_t{0};
  // By entry: the index in call_records_ of the call of that mpi_enter, or kNoCall.
  std::vector<std::uint32_t> call_numbers_;
  std::vector<CallRecord> call_records_;
};

}  // namespace margay::command
