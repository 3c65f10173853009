// Tests of a trace's definitions of a program's portals: the names of entries, their positions in the match lists over
// time, and the messages that leave a heap.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "portals/match/match_entry.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/portal_table.hpp"
#include "sim/base/clock.hpp"
#include "sim/program/portals_in_trace.hpp"

namespace margay::sim::test {
namespace {

struct Named {
  Named() { REQUIRE(recorder.open_memory().ok()); }
  void event_about(const portals::MatchEntry& entry, portals::PortalIndex portal) {
    const MatchProbe probe = in_trace.probe();
    static_cast<void>(probe.place(probe.context, entry, portal));
  }
  // The texts of all definitions of entries so far.
  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (const Definition& each : recorder.definitions()) {
      if (each.kind == DefinitionKind::entry) result.push_back(each.text);
    }
    return result;
  }

  RealClock clock;
  Recorder recorder{clock};
  Names names;
  portals::PortalTable table;
  PortalsInTrace in_trace{names, recorder, table, 63};
};

}  // namespace

TEST_CASE("names in a trace: an entry is named at the first event about it, once, and again when its name changes") {
  Named named;
  const portals::MatchEntry entry;
  named.event_about(entry, 5);
  CHECK(named.texts().empty());
  named.names.set(entry, "short ones");
  named.event_about(entry, 5);
  named.event_about(entry, 5);
  CHECK_EQ(named.texts(), std::vector<std::string>{"short ones"});
  named.names.set(entry, "all");
  named.event_about(entry, 5);
  CHECK_EQ(named.texts(), std::vector<std::string>{"short ones", "all"});
}

TEST_CASE("names in a trace: a new entry at the address of a removed named one has no name") {
  Named named;
  std::optional<portals::MatchEntry> entry(std::in_place);
  named.names.set(*entry, "first");
  named.event_about(*entry, 5);
  entry.emplace();
  named.event_about(*entry, 6);
  CHECK_EQ(named.texts(), std::vector<std::string>{"first"});
  named.event_about(*entry, 5);  // at the address of the first one
  CHECK_EQ(named.texts(), std::vector<std::string>{"first", ""});
}

TEST_CASE("portals in a trace: entries are linked and unlinked at the time of the change, with the following entry") {
  Named named;
  std::array<std::byte, 64> memory{};
  portals::SingleBlock block(portals::Buffer{memory.data(), memory.size()});
  portals::MatchEntry first({.match_bits = 1}, block, {}), second({.match_bits = 2, .source_rank = 7}, block, {});
  portals::MatchEntry spare({.ignore_bits = 3}, block, {});
  portals::MatchList list;
  list.append(second);
  list.insert_before(second, first, portals::MatchList::Start::inactive);
  list.adopt(spare);
  CHECK(named.recorder.events().empty());  // its list is attached to no portal
  REQUIRE(named.table.attach(4, list).ok());
  REQUIRE(named.table.attach(5, list).ok());
  named.table.detach(5);
  list.activate(first);
  list.remove(second);
  named.table.detach(4);
  list.append(second);  // not recorded any more
  std::vector<std::string> reported;
  for (const TraceEvent& event : named.recorder.events()) {
    reported.push_back(fmt::format("{} {} {} {} {} {}", name(event.kind), event.portal, event.detail, event.a,
                                   event.reason, event.match_bits));
  }
  const std::vector<std::string> expected = {
      "entry_linked 4 1 0 1 0",   "entry_linked 4 2 0 0 2",  "entry_linked 4 3 2 2 1",  // spare, second, first
      "entry_linked 5 2 0 0 2",   "entry_linked 5 3 2 2 1",  "entry_linked 5 1 0 1 0",
      "entry_switched 4 3 0 0 0", "entry_unlinked 4 2 0 0 0"};
  std::vector<std::string> in_order;  // those of a detached portal are in any order
  for (const std::string& line : reported) {
    const bool is_detached = line.starts_with("entry_unlinked 5") ||
                             (line.starts_with("entry_unlinked 4") && line != "entry_unlinked 4 2 0 0 0");
    if (!is_detached) in_order.push_back(line);
  }
  CHECK_EQ(in_order, expected);
  CHECK_EQ(reported.size(), expected.size() + 3 + 2);
}

TEST_CASE("portals in a trace: a portal's own descriptor is recorded; a heap of any entry has a number and a size") {
  Named named;
  alignas(64) std::array<std::byte, 1024> memory{};
  portals::DynamicBlock block(portals::Buffer{memory.data(), memory.size()});
  REQUIRE(named.table.attach(6, block, {}).ok());
  {
    portals::MatchEntry entry({}, block, {});
    portals::MatchList list;
    list.append(entry);
    REQUIRE(named.table.attach(4, list).ok());
    named.table.detach(6);
  }  // the list goes while it is attached
  const std::vector<TraceEvent> events = named.recorder.events();
  REQUIRE_EQ(events.size(), 4);
  CHECK((events[0].kind == TraceKind::entry_linked && events[0].reason == kTraceEntryPortal && events[0].detail == 0));
  CHECK_EQ(TraceEntry::of(events[0].b).heap, 1);
  CHECK_EQ(TraceEntry::of(events[1].b).heap, 1);
  CHECK((events[2].kind == TraceKind::entry_unlinked && events[2].portal == 6));
  CHECK((events[3].kind == TraceKind::entry_unlinked && events[3].portal == 4));
  std::vector<std::uint64_t> heaps;
  for (const Definition& each : named.recorder.definitions()) {
    if (each.kind == DefinitionKind::heap) heaps.push_back(each.value);
  }
  CHECK_EQ(heaps, std::vector<std::uint64_t>{block.heap_bytes()});
}

}  // namespace margay::sim::test
