// What a story tells of the probes that found its message.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/trace/story/messages.hpp"
#include "sim/trace/story/tell.hpp"
#include "tests/sim/hand_made_trace.hpp"

namespace margay::sim::test {
namespace {

std::string story_of(const Trace& trace) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return tell(trace, messages, EventWords(trace, names), messages.story(made::kMessage));
}

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("story: it tells the first and the last of the probes that found it, and how many there were") {
  made::HandMade made = made::pulled();
  // Before the receive that takes it: entries have the order of time.
  const auto searched =
      std::find_if(made.trace.entries.begin(), made.trace.entries.end(),
                   [](const Trace::Entry& entry) { return entry.event.kind == TraceKind::post_receive; });
  Trace::Entry probe = *searched;
  probe.event.kind = TraceKind::found;
  probe.event.source = made::kMessage.source;
  probe.event.sequence = made::kMessage.sequence;
  probe.event.detail = 0;
  probe.event.reason = static_cast<std::uint8_t>(TraceProbe::iprobe);
  std::vector<Trace::Entry> probes(3, probe);
  probes[0].event.a = 17;
  probes[1].event.a = 0;
  probes[2].event.a = 0;
  probes[2].event.reason = static_cast<std::uint8_t>(TraceProbe::mprobe);
  made.trace.entries.insert(searched, probes.begin(), probes.end());
  for (Trace::Entry& entry : made.trace.entries) {
    if (entry.event.kind == TraceKind::search_hit) entry.event.reason = 1;
  }
  const std::string text = story_of(made.trace);
  CAPTURE(text);
  CHECK(tells(text, "the message    is found by MPI_Iprobe, which leaves it there"));
  CHECK(text.find("is found by MPI_Iprobe") == text.rfind("is found by MPI_Iprobe"));
  CHECK(tells(text, "the message    is taken by MPI_Mprobe: no other receive gets it"));
  CHECK(tells(text, "receives it, as a matched probe took it out for this"));
  CHECK(tells(text, "after it had arrived; 17 of the rank's polls before that found nothing.\n"));
  CHECK(tells(text, "- Probes found it 3 times.\n"));
  CHECK(tells(text, "- Taken by MPI_Recv, "));  // its call, as the trace has it
  CHECK_FALSE(tells(story_of(made::pulled().trace), "robe"));
}

}  // namespace
}  // namespace margay::sim::test
