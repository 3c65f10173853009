// Holds docs/trace_format.md against the code.
#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/cost/facts.hpp"
#include "mpi_adi/rma/window.hpp"
#include "portals/base/verdict.hpp"
#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

using namespace margay;

namespace {

using Row = std::vector<std::string>;

std::string trim(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" `") - first + 1);
}

std::vector<std::string> document() {
  const std::string here = __FILE__;
  const std::string root = here.substr(0, here.rfind("tests/command/"));
  std::ifstream stream(root + "docs/trace_format.md");
  REQUIRE_MESSAGE(stream.good(), (root + "docs/trace_format.md cannot be read"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The rows of the first table below the heading "## title".
std::vector<Row> table(const std::string& title) {
  std::vector<Row> rows;
  bool inside = false;
  for (const std::string& line : document()) {
    if (line.starts_with("## ")) inside = line == "## " + title;
    if (!inside || !line.starts_with("|")) continue;
    Row row;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) row.push_back(trim(cell));
    rows.push_back(row);
  }
  REQUIRE(rows.size() > 2);
  rows.erase(rows.begin(), rows.begin() + 2);  // the head and its rule
  return rows;
}

// "Protocols: 0 none, 1 short." as {0: none, 1: short}; may go over several lines.
std::map<unsigned, std::string> listed(const std::string& title) {
  std::string text;
  bool inside = false;
  for (const std::string& line : document()) {
    if (line.starts_with(title + ": ")) inside = true;
    if (line.empty()) inside = false;
    if (inside) text += (text.empty() ? line.substr(title.size() + 2) : " " + line);
  }
  REQUIRE(text.ends_with('.'));
  text.pop_back();
  std::map<unsigned, std::string> result;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    const std::string word = trim(item);
    const std::size_t blank = word.find(' ');
    result[static_cast<unsigned>(std::stoul(word.substr(0, blank)))] = word.substr(blank + 1);
  }
  return result;
}

struct Field {
  std::size_t offset;
  std::size_t bytes;
  const char* name;
};

void compare(const std::string& title, const std::vector<Field>& fields, std::size_t total_bytes) {
  const std::vector<Row> rows = table(title);
  REQUIRE(rows.size() == fields.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(fields[i].name);
    CHECK(rows[i][2] == fields[i].name);
    CHECK(std::stoul(rows[i][0]) == fields[i].offset);
    CHECK(std::stoul(rows[i][1]) == fields[i].bytes);
    CHECK(fields[i].offset == next);  // no field is missing
    next = fields[i].offset + fields[i].bytes;
  }
  CHECK(next == total_bytes);
}

#define FIELD(type, field) \
  { offsetof(type, field), sizeof(type::field), #field }

}  // namespace

TEST_CASE("the document's header is the code's") {
  compare("Header",
          {FIELD(sim::TraceHeader, magic),
           FIELD(sim::TraceHeader, version),
           FIELD(sim::TraceHeader, header_bytes),
           FIELD(sim::TraceHeader, event_bytes),
           FIELD(sim::TraceHeader, clock),
           FIELD(sim::TraceHeader, rank),
           FIELD(sim::TraceHeader, size),
           FIELD(sim::TraceHeader, node),
           FIELD(sim::TraceHeader, process_id),
           FIELD(sim::TraceHeader, names_offset),
           FIELD(sim::TraceHeader, events_offset),
           FIELD(sim::TraceHeader, capacity),
           FIELD(sim::TraceHeader, started_realtime_ns),
           FIELD(sim::TraceHeader, host),
           FIELD(sim::TraceHeader, definitions_offset),
           FIELD(sim::TraceHeader, definitions_bytes),
           FIELD(sim::TraceHeader, keep_ns),
           FIELD(sim::TraceHeader, job),
           FIELD(sim::TraceHeader, checksum),
           FIELD(sim::TraceHeader, written),
           FIELD(sim::TraceHeader, anchor_count),
           FIELD(sim::TraceHeader, anchors),
           FIELD(sim::TraceHeader, name_count),
           FIELD(sim::TraceHeader, flags),
           FIELD(sim::TraceHeader, definitions_used),
           FIELD(sim::TraceHeader, definitions_lost),
           FIELD(sim::TraceHeader, launcher_checksum),
           FIELD(sim::TraceHeader, end),
           FIELD(sim::TraceHeader, end_value)},
          sizeof(sim::TraceHeader));
  const std::uint64_t magic = sim::kTraceMagic;
  CHECK(std::string(reinterpret_cast<const char*>(&magic), sizeof magic) == "mrgtrace");
  const std::vector<Row> rows = table("Header");
  CHECK(rows[1][3] == std::to_string(sim::kTraceVersion));
  CHECK(rows[2][3] == std::to_string(sim::kTraceHeaderBytes));
  CHECK(rows[3][3] == std::to_string(sim::kTraceEventBytes));
  CHECK(rows[9][3] == std::to_string(sim::kTraceNamesOffset));
  CHECK(rows[10][3] == std::to_string(sim::kTraceEventsOffset));
  CHECK(sim::kMaxTraceEvents == std::uint64_t{1} << 26);
  CHECK((sim::kMaxTraceNames == 1024 && sim::kTraceNameBytes == 32));
  CHECK((sim::anchor_slot(0) == 0 && sim::anchor_slot(1) == 2 && sim::anchor_slot(2) == 1 && sim::anchor_slot(3) == 2));
}

TEST_CASE("the document's definitions are the code's") {
  compare("Definition",
          {FIELD(sim::DefinitionHead, bytes), FIELD(sim::DefinitionHead, kind), FIELD(sim::DefinitionHead, text_bytes),
           FIELD(sim::DefinitionHead, time), FIELD(sim::DefinitionHead, number), FIELD(sim::DefinitionHead, value)},
          sizeof(sim::DefinitionHead));
  const std::vector<Row> rows = table("Header");
  CHECK(rows[14][3] == std::to_string(sim::kTraceDefinitionsOffset));
  CHECK(rows[15][3] == std::to_string(sim::kTraceDefinitionsBytes));
  CHECK(table("Kinds of definitions").size() == sim::kDefinitionKindCount - 1U);
}

TEST_CASE("the document's event is the code's") {
  compare("Event",
          {FIELD(sim::TraceEvent, time), FIELD(sim::TraceEvent, kind), FIELD(sim::TraceEvent, wire),
           FIELD(sim::TraceEvent, protocol), FIELD(sim::TraceEvent, source), FIELD(sim::TraceEvent, destination),
           FIELD(sim::TraceEvent, header), FIELD(sim::TraceEvent, portal), FIELD(sim::TraceEvent, reason),
           FIELD(sim::TraceEvent, saved), FIELD(sim::TraceEvent, sequence), FIELD(sim::TraceEvent, match_bits),
           FIELD(sim::TraceEvent, bytes), FIELD(sim::TraceEvent, detail), FIELD(sim::TraceEvent, a),
           FIELD(sim::TraceEvent, b)},
          sim::kTraceEventBytes);
}

TEST_CASE("the document's kinds are the code's") {
  const std::vector<Row> rows = table("Kinds");
  REQUIRE(rows.size() == sim::kTraceKindCount - 1U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i][0] == std::to_string(i + 1));
    CHECK(rows[i][1] == name(static_cast<sim::TraceKind>(i + 1)));
  }
}

TEST_CASE("the document's other numbers are the code's") {
  const auto protocols = listed("Protocols");
  CHECK(protocols.size() == sim::kTraceProtocolCount);
  for (const auto& [number, word] : protocols) CHECK(word == name(static_cast<sim::TraceProtocol>(number)));
  const auto choices = listed("Choices");
  CHECK(choices.size() == sim::kTraceChoiceCount);
  for (const auto& [number, word] : choices) CHECK(word == name(static_cast<sim::TraceChoice>(number)));
  const auto bodies = listed("Bodies");
  CHECK(bodies.size() == sim::kTraceBodyCount);
  for (const auto& [number, word] : bodies) CHECK(word == name(static_cast<sim::TraceBody>(number)));
  const auto links = listed("Links");
  CHECK(links.size() == sim::kTraceLinkCount);
  for (const auto& [number, word] : links) CHECK(word == name(static_cast<sim::TraceLink>(number)));
  const auto accesses = listed("Accesses");
  CHECK(accesses.size() == sim::kTraceAccessCount);
  for (const auto& [number, word] : accesses) CHECK(word == name(static_cast<sim::TraceAccess>(number)));
  const auto ways = listed("Ways");
  CHECK(ways.size() == mpi_adi::kWindowWays);
  for (const auto& [number, word] : ways) CHECK(word == name(static_cast<mpi_adi::WindowWay>(number)));
  const auto epochs = listed("Epochs");
  CHECK(epochs.size() == sim::kTraceEpochCount);
  for (const auto& [number, word] : epochs) CHECK(word == name(static_cast<sim::TraceEpoch>(number)));
  const auto synchronisations = listed("Synchronisations");
  CHECK(synchronisations.size() == sim::kTraceSyncCount);
  for (const auto& [number, word] : synchronisations) CHECK(word == name(static_cast<sim::TraceSync>(number)));
  const auto operations = listed("Operations");
  CHECK(operations.size() == collectives::kOperationCount + 1);
  for (const auto& [number, word] : operations) {
    const auto operation = collectives::numbered_operation(static_cast<std::uint32_t>(number));
    CHECK(word == (operation ? name(*operation) : "none"));
  }
  const auto algorithms = listed("Algorithms");
  CHECK(algorithms.size() == collectives::kAlgorithmCount);
  for (const auto& [number, word] : algorithms) CHECK(word == name(static_cast<collectives::Algorithm>(number)));
  const auto probes = listed("Probes");
  CHECK(probes.size() == sim::kTraceProbeCount);
  for (const auto& [number, word] : probes) CHECK(word == name(static_cast<sim::TraceProbe>(number)));
  const auto roots = listed("Roots");
  CHECK(roots.size() == sim::kTraceRootCount);
  for (const auto& [number, word] : roots) CHECK(word == name(static_cast<sim::TraceRoot>(number)));
  const auto reasons = listed("Drop reasons");
  CHECK(reasons.size() == margay::portals::kDropReasonCount);
  for (const auto& [number, word] : reasons) CHECK(word == name(static_cast<margay::portals::DropReason>(number)));
  const auto passed = listed("Why passed");
  CHECK(passed.size() == 7);
  for (const auto& [number, word] : passed) CHECK(word == name(static_cast<margay::portals::Passed>(number)));
}
