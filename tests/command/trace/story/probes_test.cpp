// Tests of the lines of a story about the probes that found its message.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "command/trace/story/format.hpp"
#include "command/trace/story/messages.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

std::string story_of(const Trace& trace) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return format_story(trace, messages, EventText(trace, names), messages.story(made::kMessage));
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("story: it lists the first and the last of the probes that found the message, and their number") {
  made::HandMade made = made::pulled();
  // Before the receive that takes it, because entries are ordered by time.
  const auto searched =
      std::find_if(made.trace.entries.begin(), made.trace.entries.end(),
                   [](const Trace::Entry& entry) { return entry.event.kind == sim::TraceKind::post_receive; });
  Trace::Entry probe = *searched;
  probe.event.kind = sim::TraceKind::found;
  probe.event.source = made::kMessage.source;
  probe.event.sequence = made::kMessage.sequence;
  probe.event.detail = 0;
  probe.event.reason = static_cast<std::uint8_t>(sim::TraceProbe::iprobe);
  std::vector<Trace::Entry> probes(3, probe);
  probes[0].event.a = 17;
  probes[1].event.a = 0;
  probes[2].event.a = 0;
  probes[2].event.reason = static_cast<std::uint8_t>(sim::TraceProbe::mprobe);
  made.trace.entries.insert(searched, probes.begin(), probes.end());
  for (Trace::Entry& entry : made.trace.entries) {
    if (entry.event.kind == sim::TraceKind::search_hit) entry.event.reason = 1;
  }
  const std::string text = story_of(made.trace);
  CAPTURE(text);
  CHECK(mentions(text, "the message    is found by MPI_Iprobe, which leaves it there"));
  CHECK(text.find("is found by MPI_Iprobe") == text.rfind("is found by MPI_Iprobe"));
  CHECK(mentions(text, "the message    is taken by MPI_Mprobe: no other receive gets it"));
  CHECK(mentions(text, "receives it, as a matched probe took it out for this"));
  CHECK(mentions(text, "after it had arrived; 17 of the rank's polls before that found nothing.\n"));
  CHECK(mentions(text, "- Probes found it 3 times.\n"));
  CHECK(mentions(text, "- Taken by MPI_Recv, "));  // its call, as in the trace
  CHECK(mentions(text, "- Found by MPI_Recv, "));
  CHECK_FALSE(mentions(story_of(made::pulled().trace), "robe"));
}

// Rank 1 waits from 0.5 to 4.5 us, in a call of its own; the message is sent at 2 us and arrives at 4.
Trace waited_in(sim::TraceProbe call) {
  made::HandMade made = made::pulled();
  std::vector<Trace::Entry>& entries = made.trace.entries;
  const auto event = [](sim::TraceKind kind, std::uint64_t time) {
    Trace::Entry entry{{}, 1};
    entry.event.kind = kind;
    entry.event.time = time;
    return entry;
  };
  Trace::Entry found = event(sim::TraceKind::found, 4500);
  found.event.source = made::kMessage.source;
  found.event.destination = made::kMessage.destination;
  found.event.sequence = made::kMessage.sequence;
  found.event.reason = static_cast<std::uint8_t>(call);
  const auto arrived = std::find_if(entries.begin(), entries.end(), [](const Trace::Entry& entry) {
    return entry.event.kind == sim::TraceKind::kernel_arrive;
  });
  entries.insert(arrived + 1, {event(sim::TraceKind::wait_end, 4500), found, event(sim::TraceKind::mpi_leave, 4500)});
  entries.insert(entries.begin(), {event(sim::TraceKind::mpi_enter, 500), event(sim::TraceKind::wait_begin, 500)});
  return made.trace;
}

TEST_CASE("story: a rank that waited in a probe waited for the message that the probe found") {
  const std::string text = story_of(waited_in(sim::TraceProbe::probe));
  CAPTURE(text);
  CHECK(mentions(text, "- Rank 1 waited for it in this call for 4.00 us, 1.50 us of that before rank 0 sent it.\n"));
  CHECK(mentions(story_of(waited_in(sim::TraceProbe::mprobe)), "waited for it in this call for 4.00 us, 1.50 us"));
}

TEST_CASE("story: a nonblocking probe does not wait, and of several threads it is not known which one waited") {
  CHECK_FALSE(mentions(story_of(waited_in(sim::TraceProbe::iprobe)), "waited for it"));
  CHECK_FALSE(mentions(story_of(waited_in(sim::TraceProbe::improbe)), "waited for it"));
  Trace threads = waited_in(sim::TraceProbe::probe);
  Trace::Entry other = threads.entries.front();
  other.event.detail = 1;
  threads.entries.insert(threads.entries.begin(), other);
  CHECK_FALSE(mentions(story_of(threads), "waited for it"));
}

}  // namespace
}  // namespace margay::command::test
