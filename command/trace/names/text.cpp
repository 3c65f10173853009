#include "command/trace/names/text.hpp"

#include <fmt/format.h>

#include <optional>

#include "command/trace/read/schema.hpp"

namespace margay::command {

namespace {

std::string rank_text(portals::Rank rank) {
  return rank == portals::kAnyRank ? "any" : fmt::format("{}", rank);
}

// Whether the field is the message's source, destination or sequence, which have a column of their own. A kind may use
// these slots for fields with other names.
bool names_message(const Field& field) {
  return (field.slot == Slot::source || field.slot == Slot::destination || field.slot == Slot::sequence) &&
         field.name == name(field.slot);
}

// A number without a name, for example from a newer version, is printed as a number.
std::string field_text(const TraceFile& file, const Field& field, std::uint64_t value, WireName wire_name) {
  switch (field.type) {
    case FieldType::bits:
      return fmt::format("{} 0x{:016x}", field.name, value);
    case FieldType::call:
      return fmt::format("{} {}", field.name, call_name(file, static_cast<std::uint32_t>(value)));
    case FieldType::flag:
      return std::string(field.name);
    case FieldType::enumerated: {
      if (field.slot == Slot::wire && wire_name != nullptr)
        return fmt::format("wire {}", wire_name(static_cast<std::uint8_t>(value)));
      const std::string_view name = value_name(field, value);
      if (name != "unknown") return fmt::format("{} {}", field.name, name);
      break;
    }
    case FieldType::number:
    case FieldType::rank:
      break;
  }
  return fmt::format("{} {}", field.name, value);
}

}  // namespace

std::string_view reason_text(const sim::TraceEvent& event) {
  std::string_view text;
  for_each_field(event.kind, [&](const Field& field) {
    // Other fields in this slot are flags and body methods, which are not reasons.
    if (field.slot != Slot::reason || (field.name != "reason" && field.name != "choice")) return;
    if (const std::optional<std::uint64_t> value = value_of(field, event)) text = value_name(field, *value);
  });
  return text;
}

// Unsigned times are subtracted in the order that cannot wrap.
std::string time_text(std::uint64_t time_ns, std::uint64_t origin_ns) {
  const bool early = time_ns < origin_ns;
  const std::uint64_t distance_ns = early ? origin_ns - time_ns : time_ns - origin_ns;
  return fmt::format("{}{}.{:03}", early ? "-" : "", distance_ns / 1000, distance_ns % 1000);
}

std::string message_text(const sim::TraceEvent& event) {
  if (event.source == portals::kAnyRank && event.destination == portals::kAnyRank) return "";
  // This event is not about a message: its source is the source rank that the entry accepts.
  if (event.kind == sim::TraceKind::entry_linked) return "";
  std::string text = rank_text(event.source) + ">" + rank_text(event.destination);
  if (event.sequence != 0) text += fmt::format(" #{}", sim::number_text(event.sequence));
  return text;
}

std::string text_heading() {
  return fmt::format("{:>14} {:>5}  {:<20}  {:<14}  {}", "microseconds", "rank", "event", "message", "what");
}

// Fields come from the schema, so a new field appears here without a change.
std::string text_line(const Trace& trace, const Trace::Entry& entry, std::uint64_t origin_ns, WireName wire_name) {
  const sim::TraceEvent& event = entry.event;
  const TraceFile& file = trace.files[entry.file];
  std::string what;
  for_each_field(event.kind, [&](const Field& field) {
    const std::optional<std::uint64_t> value = value_of(field, event);
    if (!value || names_message(field)) return;
    what += (what.empty() ? "" : ", ") + field_text(file, field, *value, wire_name);
  });
  const std::string kind = schema_of(event.kind) != nullptr
                               ? std::string(name(event.kind))
                               : fmt::format("kind {}", static_cast<std::uint16_t>(event.kind));
  std::string line = fmt::format("{:>14} {:>5}  {:<20}  {:<14}  {}", time_text(event.time, origin_ns), file.rank, kind,
                                 message_text(event), what);
  // An event without fields would end in padding.
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace margay::command
