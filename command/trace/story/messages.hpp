// The messages of a trace, each with all of its hops: header and body, acknowledgment, pull (a get and its reply),
// synchronous answer. Each of these is a message of its own in the trace; here they are one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "command/trace/read/filter.hpp"
#include "command/trace/read/reader.hpp"

namespace margay::command {

// Whether a request's event of rank `rank` is of a receive. Sends and receives have numbers of their own: 0 may be one
// of each.
[[nodiscard]] inline bool is_of_receive(const sim::TraceEvent& event, std::uint32_t rank) {
  return event.destination == rank && event.protocol == sim::TraceProtocol::none;
}

struct MessageHash {
  std::size_t operator()(const MessageIdentity& message) const {
    const std::uint64_t pair = std::uint64_t{message.source} << 32U | message.destination;
    return std::hash<std::uint64_t>()(pair * 0x9e37'79b9'7f4a'7c15U ^ message.sequence);
  }
};

// What took a message.
enum class Taker : std::uint8_t {
  none,     // nothing, as far as the trace shows
  receive,  // of MPI: posted before it came, or the heap of unexpected messages
  window,   // memory of a window, or what serves accesses of it
  entry,    // a program's match entry or portal, or one of the library's own
  heap,     // the same, with a dynamic block
};

// One in whole. Indices are of trace.entries; kNone: not in the trace.
struct MessageStory {
  static constexpr std::size_t kNone = ~std::size_t{0};
  MessageIdentity identity;
  std::vector<std::size_t> steps;  // of all its hops, by time
  std::size_t begin = kNone;       // send_begin, or else kernel_send
  std::size_t sent = kNone;        // kernel_send
  std::size_t arrived = kNone;     // kernel_arrive or kernel_get_arrived
  std::size_t matched = kNone;     // kernel_match
  std::size_t dropped = kNone;     // kernel_drop
  std::size_t held = kNone;        // kernel_hold: its wire kept it until there was room
  std::size_t kept = kNone;        // kernel_deposit: what was to be kept of it is there
  std::size_t posted = kNone;      // post_receive of the receive that took it
  std::size_t searched = kNone;    // search_hit: it was unexpected
  std::vector<std::size_t> found;  // found: by probes
  std::size_t pulled = kNone;      // pull_begin
  std::size_t pull_ended = kNone;  // pull_complete
  std::size_t received = kNone;    // receive_complete, or else kernel_deposit
  std::size_t completed = kNone;   // request_complete of the sender
  std::size_t given_back = kNone;  // given_back: the heap lost it unread
  bool is_get = false;             // it has no body: its reply does
  bool cancelled = false;          // and that because its sender cancelled it
  bool unexpected = false;         // the heap took it
  Taker taker = Taker::none;
  bool taken_back = false;  // cancelled before its wire had begun with it: an empty one went in its place
};

class Messages {
 public:
  // `trace` outlives it.
  explicit Messages(const Trace& trace);

  // Each message that is no hop of another, by the time of its first event.
  [[nodiscard]] const std::vector<MessageIdentity>& roots() const { return roots_; }
  // The message that `hop` is a part of: itself when of none.
  [[nodiscard]] MessageIdentity root_of(MessageIdentity hop) const;
  // Of a message of the story's pair that was held for lack of room, while the story's header was on its way behind it.
  struct Blocked {
    MessageIdentity by;    // the latest of them
    std::uint64_t ns = 0;  // by all of them; 0: by none
  };
  [[nodiscard]] Blocked blocked(const MessageStory& story) const;
  // When the message left the wire that held it: its kernel_match or kernel_drop; kNone: held to the end.
  [[nodiscard]] static std::size_t hold_end(const MessageStory& story) {
    return story.matched != MessageStory::kNone ? story.matched : story.dropped;
  }
  // An identity of which there is no event has no steps.
  [[nodiscard]] MessageStory story(const MessageIdentity& root) const;
  // The arrival of the header of `hop`; nullptr: it is not in the trace.
  [[nodiscard]] const sim::TraceEvent* arrival(const MessageIdentity& hop) const;
  // Whether all that the rank recorded is there: what is not in the trace did not happen.
  [[nodiscard]] bool is_whole(std::uint32_t rank) const;
  // The same of what happened after entry `at`: a file that went round has lost its beginning alone.
  [[nodiscard]] bool is_whole_after(std::uint32_t rank, std::size_t at) const;
  // The call that was under way in the rank when it recorded entry `at`: index of its mpi_enter; kNone: none.
  [[nodiscard]] std::size_t call_around(std::size_t at) const { return calls_[at]; }
  // Whether calls of several threads of the rank are in its file: then call_around() may be another thread's.
  [[nodiscard]] bool has_threads(std::uint32_t file) const { return has_threads_[file]; }
  // Index of the mpi_leave that belongs to the mpi_enter `enter`; kNone: it is not in the trace.
  [[nodiscard]] std::size_t leave_of(std::size_t enter) const;
  // How long the call of mpi_enter `enter` waited, in all.
  [[nodiscard]] std::uint64_t waited_in(std::size_t enter) const;

 private:
  [[nodiscard]] std::vector<std::size_t> steps_of(const MessageIdentity& root) const;
  void note_step(std::size_t at, MessageStory& story) const;
  [[nodiscard]] Taker taker_of(const Trace::Entry& matched) const;
  void find_receive(MessageStory& story) const;
  [[nodiscard]] std::size_t last_before(std::uint32_t file, std::uint32_t request, sim::TraceKind kind,
                                        std::size_t until) const;
  [[nodiscard]] static std::uint64_t receive_key(std::uint32_t file, std::uint32_t request) {
    return std::uint64_t{file} << 32U | request;
  }
  void note_hops();
  void note_calls();
  void note_open_wait(const std::vector<std::size_t>& calls, std::size_t wait_begun);

  const Trace& trace_;
  std::unordered_map<MessageIdentity, std::vector<std::size_t>, MessageHash> events_;  // by the identity they bear
  std::unordered_map<MessageIdentity, MessageIdentity, MessageHash> part_of_;          // hop: what it answers or serves
  std::unordered_map<MessageIdentity, std::vector<MessageIdentity>, MessageHash> hops_;  // the other way round
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> receives_;  // by file and request: its posts and misses
  std::vector<std::size_t> holds_;                                        // each kernel_hold
  std::vector<MessageIdentity> roots_;
  std::vector<std::size_t> calls_;
  std::vector<bool> has_threads_;   // by file
  std::vector<bool> is_mpi_;        // by file
  std::vector<std::size_t> first_;  // each file's first entry
  struct Call {
    std::size_t leave = MessageStory::kNone;
    std::uint64_t waited_ns = 0;
  };
  // Of the call of mpi_enter `enter`, which is noted when it ends or waits.
  [[nodiscard]] Call& ends_at(std::size_t enter);
  static constexpr std::uint32_t kNoCall = ~std::uint32_t{0};
  std::vector<std::uint32_t> call_numbers_;  // by the index of the call's mpi_enter
  std::vector<Call> ends_;                   // by number
};

}  // namespace margay::command
