// Tests of docs/trace_format.md against the code.
#include <doctest/doctest.h>

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command/trace/read/schema.hpp"
#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

using namespace margay;
using namespace margay::command;

namespace {

using Row = std::vector<std::string>;

std::string trim(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" `") - first + 1);
}

std::string path() {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind("tests/command/")) + "docs/trace_format.md";
}

std::vector<std::string> document() {
  std::ifstream stream(path());
  REQUIRE_MESSAGE(stream.good(), (path() + " cannot be read"));
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

struct Member {
  std::size_t offset;
  std::size_t bytes;
  const char* name;
};

void compare(const std::string& title, const std::vector<Member>& fields, std::size_t total_bytes) {
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

// "`request` (a), its number", "`walk` (reason, bits 0 to 3: walks)".
std::string cell_of(const Field& field) {
  std::string where = field.name == name(field.slot) ? "" : std::string(name(field.slot));
  if (field.bits < 64) {
    where +=
        (where.empty() ? "bit" : ", bit") + std::string(field.bits == 1 ? " " : "s ") + std::to_string(field.first_bit);
    if (field.bits > 1) where += " to " + std::to_string(field.first_bit + field.bits - 1);
  }
  if (field.enumeration != nullptr) {
    std::string title(field.enumeration->title);
    title[0] = static_cast<char>(std::tolower(title[0]));
    where += (where.empty() ? "" : ": ") + title;
  }
  std::string cell = "`" + std::string(field.name) + "`";
  if (!where.empty()) cell += " (" + where + ")";
  if (!field.meaning.empty()) cell += ": " + std::string(field.meaning);
  return cell;
}

std::string kinds_table() {
  std::string text = "| number | kind | who, when | its fields |\n|---|---|---|---|\n";
  for (std::uint16_t number = 1; number < sim::kTraceKindCount; ++number) {
    const EventSchema& schema = *schema_of(static_cast<sim::TraceKind>(number));
    text += "| " + std::to_string(number) + " | " + std::string(name(schema.kind)) + " | " +
            std::string(schema.meaning) + " | ";
    for (const Field& field : schema.fields()) text += (&field == schema.fields().data() ? "" : "; ") + cell_of(field);
    text += schema.fields().empty() ? "|\n" : " |\n";
  }
  return text;
}

std::string lists_of_words() {
  std::string text;
  for (const Enumeration* const enumeration : enumerations()) {
    text += (text.empty() ? "" : "\n") + std::string(enumeration->title) + ":";
    for (std::uint32_t number = enumeration->first; number < enumeration->end; ++number) {
      text += (number == enumeration->first ? " " : ", ") + std::to_string(number) + " " +
              std::string(enumeration->name(number));
    }
    text += ".\n";
  }
  return text;
}

// With WRITE_DOCUMENTS in the environment the text is written there.
void check_made(const std::string& mark, const std::string& made) {
  std::string text;
  for (const std::string& line : document()) text += line + "\n";
  const std::string begin = "<!-- " + mark + " are made from command/trace/read/schema.cpp -->\n";
  const std::string end = "<!-- end of " + mark + " -->\n";
  REQUIRE(text.find(begin) != std::string::npos);
  const std::size_t from = text.find(begin) + begin.size();
  const std::size_t to = text.find(end, from);
  REQUIRE(to != std::string::npos);
  if (std::getenv("WRITE_DOCUMENTS") != nullptr) {
    std::ofstream(path()) << text.substr(0, from) + made + text.substr(to);
    return;
  }
  CHECK_MESSAGE(
      text.substr(from, to - from) == made,
      "docs/trace_format.md is older than the schema: WRITE_DOCUMENTS=1 command_test -tc=\"the document's*\"");
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

TEST_CASE("the document's kinds and names of values are the schema's") {
  check_made("kinds", kinds_table());
  check_made("words", lists_of_words());
}

TEST_CASE("a kind's fields have different names, and each bit of its record one meaning") {
  for (std::uint16_t number = 1; number < sim::kTraceKindCount; ++number) {
    CAPTURE(number);
    std::set<std::string_view> names;
    std::map<Slot, std::uint64_t> taken;
    const auto kind = static_cast<sim::TraceKind>(number);
    CHECK_FALSE(schema_of(kind)->meaning.empty());
    for_each_field(kind, [&](const Field& field) {
      CAPTURE(field.name);
      CHECK(names.insert(field.name).second);
      CHECK((field.enumeration != nullptr) == (field.type == FieldType::enumerated));
      // A window's number is a part of its match bits; others share bits if an event has only one of them.
      if (field.applies != nullptr || field.name == "window") return;
      const std::uint64_t bits = (field.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.bits) - 1)
                                 << field.first_bit;
      CHECK((taken[field.slot] & bits) == 0);
      taken[field.slot] |= bits;
    });
  }
}
