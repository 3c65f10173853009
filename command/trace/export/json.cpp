#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "command/trace/names/names.hpp"
#include "command/trace/read/schema.hpp"
#include "sim/trace/definition.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

namespace {

using JsonText = nlohmann::ordered_json;

constexpr int kJsonVersion = 1;

constexpr std::array<std::string_view, sim::kDefinitionKindCount> kDefinitionNames = {
    "none",  "communicator", "datatype",   "portal", "entry",         "module",
    "owner", "members",      "partitions", "heap",   "library_event", "match_bits",
};

// A JSON string with its quotes.
std::string in_quotes(std::string_view text) {
  return JsonText(text).dump(-1, ' ', false, JsonText::error_handler_t::replace);
}

// By TraceStop.
constexpr std::array<std::string_view, 5> kStopNames = {"other", "rank", "timeout", "deadlock", "interrupt"};

// Match bits are strings: JSON numbers lose precision above 2^53 in many readers.
void add_value(std::string& line, const TraceFile& file, const Field& field, std::uint64_t value) {
  switch (field.type) {
    case FieldType::number:
    case FieldType::rank:
      fmt::format_to(std::back_inserter(line), "{}", value);
      break;
    case FieldType::bits:
      fmt::format_to(std::back_inserter(line), "\"0x{:016x}\"", value);
      break;
    case FieldType::call:
      line += in_quotes(call_name(file, static_cast<std::uint32_t>(value)));
      break;
    case FieldType::flag:
      line += value != 0 ? "true" : "false";
      break;
    case FieldType::enumerated: {
      const std::string_view name = value_name(field, value);
      // A number without a name stays a number.
      name == "unknown" ? line += std::to_string(value) : line += in_quotes(name);
      break;
    }
  }
}

// The fields in the match bits of a communication library's message.
void add_fields(std::string& line, const TraceNames& names, const Trace::Entry& entry) {
  const sim::TraceEvent& event = entry.event;
  const bool has_header = event.kind == sim::TraceKind::kernel_send || event.kind == sim::TraceKind::kernel_arrive;
  if (!has_header || event.header == static_cast<std::uint8_t>(portals::Kind::reply)) return;
  const NamedMessage message = names.library_message(entry.file, event.portal, event.match_bits);
  if (message.fields.empty()) return;
  std::string_view separator = ", \"fields\": {";
  for (const BitField& each : message.fields) {
    fmt::format_to(std::back_inserter(line), "{}{}: {}", std::exchange(separator, ", "), in_quotes(each.key),
                   each.is_number ? each.value : in_quotes(each.value));
  }
  line += '}';
}

// Formats one event into `line`, replacing its former content.
void put_event(const Trace& trace, const TraceNames& names, const Trace::Entry& entry, std::string& line) {
  const TraceFile& file = trace.files[entry.file];
  // Millions of events share one buffer, which saves an allocation for each.
  line.clear();
  const std::uint64_t time_ns = entry.event.time - trace.entries.front().event.time;
  fmt::format_to(std::back_inserter(line), "{{\"time_ns\": {}, \"rank\": {}, \"kind\": ", time_ns, file.rank);
  if (schema_of(entry.event.kind) != nullptr) {
    line += in_quotes(name(entry.event.kind));
  } else {
    line += std::to_string(static_cast<std::uint16_t>(entry.event.kind));
  }
  for_each_field(entry.event.kind, [&](const Field& field) {
    const std::optional<std::uint64_t> value = value_of(field, entry.event);
    if (!value) return;
    fmt::format_to(std::back_inserter(line), ", \"{}\": ", field.name);
    add_value(line, file, field, *value);
  });
  add_fields(line, names, entry);
  line += '}';
}

// Each file explains itself: a reader needs no other document.
JsonText kinds_json() {
  JsonText kinds = JsonText::object();
  for (std::uint16_t number = 1; number < sim::kTraceKindCount; ++number) {
    const auto kind = static_cast<sim::TraceKind>(number);
    JsonText fields = JsonText::object();
    for_each_field(kind, [&](const Field& field) { fields[std::string(field.name)] = field.meaning; });
    kinds[std::string(name(kind))] = {{"meaning", schema_of(kind)->meaning}, {"fields", fields}};
  }
  return kinds;
}

// The rank's end, as its launcher observed it; null: not known, or the rank closed its file and exited with status 0.
JsonText end_json(const TraceFile& file) {
  const std::uint32_t why = file.end_value >> 8U;
  switch (file.end) {
    case sim::TraceEnd::none:
      return nullptr;
    case sim::TraceEnd::signal:
      return {{"signal", file.end_value}};
    case sim::TraceEnd::exit_status:
      return {{"exit_status", file.end_value}};
    case sim::TraceEnd::stopped:
      return {{"signal", file.end_value & 0xffU}, {"launcher", kStopNames[why < kStopNames.size() ? why : 0]}};
  }
  return nullptr;
}

// Definitions may precede the first event, so their times are signed.
JsonText rank_json(const TraceFile& file, std::uint64_t first_ns) {
  JsonText definitions = JsonText::array();
  for (const sim::Definition& definition : file.definitions) {
    const auto kind = static_cast<std::size_t>(definition.kind);
    definitions.push_back({{"time_ns", static_cast<std::int64_t>(definition.time - first_ns)},
                           {"kind", kind < kDefinitionNames.size() ? kDefinitionNames[kind] : "unknown"},
                           {"number", definition.number},
                           {"value", definition.value},
                           {"text", definition.text}});
  }
  return {
      {"rank", file.rank},        {"size", file.size},         {"node", file.node},     {"process_id", file.process_id},
      {"closed", file.closed},    {"sealed", file.sealed},     {"end", end_json(file)}, {"events", file.written},
      {"events_lost", file.lost}, {"definitions", definitions}};
}

}  // namespace

// Events are written one by one, so memory does not grow with the trace.
void write_json(const Trace& trace, std::ostream& out) {
  const std::uint64_t first_ns = trace.entries.empty() ? 0 : trace.entries.front().event.time;
  out << "{\"version\": " << kJsonVersion << ",\n\"kinds\": " << kinds_json().dump() << ",\n\"ranks\": [";
  for (std::size_t i = 0; i < trace.files.size(); ++i) {
    const JsonText rank = rank_json(trace.files[i], first_ns);
    out << (i == 0 ? "\n" : ",\n") << rank.dump(-1, ' ', false, JsonText::error_handler_t::replace);
  }
  out << "\n],\n\"events\": [";
  std::string line;
  const TraceNames names(trace);
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    put_event(trace, names, trace.entries[i], line);
    out << (i == 0 ? "\n" : ",\n") << line;
  }
  out << "\n]}\n";
}

}  // namespace margay::command
