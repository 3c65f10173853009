// The names that a program on portals gives its entries, in its trace.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "portals/match/match_entry.hpp"
#include "sim/base/clock.hpp"
#include "sim/program/names_in_trace.hpp"

namespace margay::sim::test {
namespace {

struct Named {
  Named() { REQUIRE(recorder.open_memory().ok()); }
  void event_about(const portals::MatchEntry& entry, portals::PortalIndex portal) {
    const MatchProbe probe = in_trace.probe();
    probe.entry(probe.context, entry, portal);
  }
  // What was defined since, the texts of entries only.
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
  NamesInTrace in_trace{names, recorder, 63};
};

}  // namespace

TEST_CASE("names in a trace: an entry is named when an event is about it, once, and again when its name changes") {
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

TEST_CASE("names in a trace: another entry at the address of a named one that is gone has no name") {
  Named named;
  std::optional<portals::MatchEntry> entry(std::in_place);
  named.names.set(*entry, "first");
  named.event_about(*entry, 5);
  entry.emplace();
  named.event_about(*entry, 6);
  CHECK_EQ(named.texts(), std::vector<std::string>{"first"});
  named.event_about(*entry, 5);  // where the first one was
  CHECK_EQ(named.texts(), std::vector<std::string>{"first", ""});
}

}  // namespace margay::sim::test
