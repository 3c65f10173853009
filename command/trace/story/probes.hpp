// Which probes found a message before a receive had it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"
#include "command/trace/story/words.hpp"

namespace margay::command {

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

}  // namespace margay::command
