// A message's outcome: one or two words, its first and last step, and sentences about gaps, losses, probes and waits.
// All functions are pure; each takes the story that Messages::story() returned, over the same trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// The outcome of a message:
//   "expected"            a posted receive took it
//   "matched"             another entry or portal took it: of a program on portals, of collective calls
//   "heap"                the same, and a dynamic block keeps it
//   "window"              it accessed a window
//   "unexpected"          it waited in the heap of unexpected messages
//   "pulled", "unexpected, pulled"   its body was fetched after the header
//   "dropped", "cancelled", "never received", "not arrived"
//   "held"                its wire keeps it to the end of the recording
//   "broken off"          its body did not end
//   "not known"
// An outcome that follows from a missing event ("never received", "not arrived", "held", "broken off") is returned only
// if the receiver's recording is complete from the message's last known step on.
[[nodiscard]] std::string_view fate(const Messages& messages, const MessageStory& story);
// Whether the message lacks a completed receive. `not_known`: the recording is not whole enough to decide.
enum class Unreceived : std::uint8_t { no, yes, not_known };
[[nodiscard]] Unreceived unreceived(const Messages& messages, const MessageStory& story);
// The entry with which the message begins: its sending or, without one, its first event in the trace. Requires: it has
// steps.
[[nodiscard]] std::size_t first_step(const MessageStory& story);
// The event with the message's portal and match bits. Requires: it has steps.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const MessageStory& story);
// The event with the message's length and datatype: the send_begin or, without one, the event of about(). Requires: it
// has steps.
[[nodiscard]] const Trace::Entry& best_described(const Trace& trace, const MessageStory& story);
// The last step of the message's path. A release from a heap by the program, at any later time, is not part of the
// path. Requires: it has steps.
[[nodiscard]] std::size_t last_step(const Trace& trace, const MessageStory& story);
// The entry with which the message's body was in the receiver's memory: its receive_complete or, if no MPI receive
// takes it, its kernel_deposit. MessageStory::kNone: the trace has neither.
[[nodiscard]] std::size_t received_step(const Trace& trace, const MessageStory& story);
// Nanoseconds from first_step() to last_step(); 0 if the last step has an earlier time, because the clocks of two ranks
// disagree. Requires: it has steps.
[[nodiscard]] std::uint64_t duration_ns(const Trace& trace, const MessageStory& story);

// Gaps: facts that are unknown because a rank's recording lacks them.

// Sentences, one for each rank without a record of its part; empty if both ranks have one.
[[nodiscard]] std::vector<std::string> gap_sentences(const Trace& trace, const MessageStory& story);

// Losses: the message's other rank was lost or killed.

// Sentences about each side's loss and how the lost rank ended. Empty for a message that was received and whose send
// did not fail. Cost: one pass over the trace's entries.
[[nodiscard]] std::vector<std::string> loss_sentences(const Trace& trace, const Messages& messages,
                                                      const MessageStory& story);

// Missed receives. A message misses a receive if it arrives between two steps of that receive: after the search of the
// heap, and before the entry is in the match list. `margay run --mpi racy` allows this, for teaching. The paper forbids
// it: "This operation must be atomic to insure that the kernel doesn't deposit a message in the dynamic heap between
// the time the heap is searched and the entry is activated" (paper 001, section 2).

// A receive that a message missed.
struct MissedReceive {
  // The receive's post_receive; kNone: the message missed no receive.
  std::size_t posted = MessageStory::kNone;
  // The receive's search_miss, which precedes the message's match.
  std::size_t searched = MessageStory::kNone;
};

// Cost: looks back from the message's kernel_match to the beginning of the call around it, at most 4096 events.
[[nodiscard]] MissedReceive missed_receive(const Trace& trace, const Messages& messages, const MessageStory& story);

// Probes that found the message before a receive took it.

// Whether a probe waits for the message that it finds: MPI_Probe and MPI_Mprobe.
[[nodiscard]] constexpr bool blocks(sim::TraceProbe probe) {
  return probe == sim::TraceProbe::probe || probe == sim::TraceProbe::mprobe;
}
// Sentences on the first and the last probe, and how many there were: "Found by MPI_Iprobe (pipe.c:12), 3.10 us after
// it had arrived; 17 of the rank's polls before that found nothing." A blocking probe adds its wait: "Rank 0 waited for
// it in this call for 25.2 ms, 25.1 ms of that before rank 1 sent it."
[[nodiscard]] std::vector<std::string> probe_sentences(const Trace& trace, const Messages& messages,
                                                       const EventText& event_text, const MessageStory& story);
// Whether the step is a probe between the first and the last, which a story omits.
[[nodiscard]] bool is_probe_left_out(const Trace& trace, const MessageStory& story, std::size_t step);

// Waits: a message for its receive, a receive for its message, a header on its wire.

// Sentences with the duration of each wait. Empty when the message's arrival was not recorded and nothing blocked it.
[[nodiscard]] std::vector<std::string> wait_sentences(const Trace& trace, const Messages& messages,
                                                      const MessageStory& story);
// The waits of a pull: from the request for the body until the sender sees it, and from there to the body's end.
[[nodiscard]] std::vector<std::string> pull_wait_sentences(const Trace& trace, const MessageStory& story);

// Completeness: every step of the message's protocol, on both sides, is in the trace.

// One sentence for each missing step of MPI messages between ranks whose files are whole and closed; empty when all
// steps are there. An unreceived message needs no receive, and a dropped one ends with its drop. Cost: builds the story
// of every message.
[[nodiscard]] std::vector<std::string> missing_steps(const Trace& trace, const TraceNames& names,
                                                     const Messages& messages);

}  // namespace margay::command
