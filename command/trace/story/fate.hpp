// Parts of a message's story: its fate in a word or two, its first and last step, and sentences about gaps, losses,
// probes and waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/messages.hpp"
#include "command/trace/story/words.hpp"

namespace margay::command {

// "expected" (by a receive), "matched" (by an entry or a portal, which expect nothing), "heap" (the same, and a dynamic
// block keeps it), "window", "unexpected", "pulled", "unexpected, pulled", "dropped", "cancelled", "never received",
// "not arrived", "held" (its wire keeps it to the end), "broken off" (its body did not come to its end) or "not known".
// What did not happen is said only where all that the receiver recorded since then is there.
[[nodiscard]] std::string_view fate(const Messages& messages, const MessageStory& story);
// Whether no receive has it in whole, as far as is known; `not_known`: the trace does not tell.
enum class Unreceived : std::uint8_t { no, yes, not_known };
[[nodiscard]] Unreceived unreceived(const Messages& messages, const MessageStory& story);
// What it began with: its sending, or else the first of it that is in the trace. Requires: it has steps.
[[nodiscard]] std::size_t first_step(const MessageStory& story);
// The event that tells a message's portal and bits. Requires: it has steps.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const MessageStory& story);
// The event that tells its amount and type: the send_begin, or else what about() gives. Requires: it has steps.
[[nodiscard]] const Trace::Entry& best_told(const Trace& trace, const MessageStory& story);
// The last of its way: that a program released it from a heap, some time later, is none. Requires: it has steps.
[[nodiscard]] std::size_t last_step(const Trace& trace, const MessageStory& story);
// From its sending to its last step. Requires: it has steps.
[[nodiscard]] std::uint64_t duration_ns(const Trace& trace, const MessageStory& story);

// What is not known of a message because a rank's recording lacks it.

// Sentences; none where both ranks recorded their part.
[[nodiscard]] std::vector<std::string> gaps_told(const Trace& trace, const MessageStory& story);

// That the other rank of a message was lost, and how it ended.

// Sentences; none of a message that was received and whose send did not fail.
[[nodiscard]] std::vector<std::string> losses_told(const Trace& trace, const Messages& messages,
                                                   const MessageStory& story);

// The receive that a message was lost to: it had searched the heap when the message came, and was not in the list yet.
// "This operation must be atomic to insure that the kernel doesn't deposit a message in the dynamic heap between the
// time the heap is searched and the entry is activated" (paper 001, section 2).

struct MissedReceive {
  std::size_t posted = MessageStory::kNone;    // its post_receive; kNone: the message was lost to none
  std::size_t searched = MessageStory::kNone;  // its search_miss
};

// Looks back from the message's kernel_match to the beginning of the call that it came in, some thousand events at
// most.
[[nodiscard]] MissedReceive missed_receive(const Trace& trace, const Messages& messages, const MessageStory& story);

// Which probes found a message before a receive had it.

// A probe that blocks waits for the message that it finds.
[[nodiscard]] constexpr bool blocks(sim::TraceProbe probe) {
  return probe == sim::TraceProbe::probe || probe == sim::TraceProbe::mprobe;
}
// "Found by MPI_Iprobe (pipe.c:12), 3.10 us after it had arrived; 17 of the rank's polls before that found nothing.":
// of the first and of the last, and how many there were. "Rank 0 waited for it in this call for 25.2 ms, 25.1 ms of
// that before rank 1 sent it.": of those that block.
[[nodiscard]] std::vector<std::string> probes_told(const Trace& trace, const Messages& messages,
                                                   const EventWords& words, const MessageStory& story);
// Of many probes a story's steps have the first and the last.
[[nodiscard]] bool is_probe_left_out(const Trace& trace, const MessageStory& story, std::size_t step);

// Who waited for whom: a message for its receive, a receive for its message, a header on its wire.

// Sentences, for how long each; none of a message that nobody saw arrive and nothing was before.
[[nodiscard]] std::vector<std::string> waits_told(const Trace& trace, const Messages& messages,
                                                  const MessageStory& story);
// The same of a body that its receiver asked for: until the sender saw that, and from there to its end.
[[nodiscard]] std::vector<std::string> pull_waits_told(const Trace& trace, const MessageStory& story);

// Whether a message's story is whole: every step of its protocol, on both sides, is in the trace.

// What is missing of MPI messages between ranks whose files are whole and closed, a sentence each; nothing when all is
// there. Messages that nobody received have no receive, and one that was dropped has no more than its drop.
[[nodiscard]] std::vector<std::string> missing_steps(const Trace& trace, const TraceNames& names,
                                                     const Messages& messages);

}  // namespace margay::command
