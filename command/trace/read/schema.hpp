// What each kind of event says: its fields by their names, where in an event's bytes they lie, and what they mean.
// This is the one list of it: the checks of a file that is read, `margay trace print --raw`, `margay trace export
// --format json` and the tables of docs/trace_format.md are made from it. What the recorder writes is in sim/trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/trace/event.hpp"

namespace margay::command {

// Numbers that have words: those from `first` on and below `end`.
struct Enumeration {
  std::string_view title;  // "Protocols"
  std::string_view (*word)(std::uint32_t number);
  std::uint32_t end;
  std::uint32_t first = 0;
};
// Those of the schema, in the document's order.
[[nodiscard]] std::span<const Enumeration* const> enumerations();

// Members of sim::TraceEvent. `a_and_b`: the lower and the upper half of one number.
enum class Slot : std::uint8_t {
  source,
  destination,
  sequence,
  header,
  portal,
  wire,
  protocol,
  reason,
  saved,
  match_bits,
  bytes,
  detail,
  a,
  b,
  a_and_b,
};
// "match_bits", as the document calls it.
[[nodiscard]] std::string_view name(Slot slot);

enum class FieldType : std::uint8_t {
  number,
  rank,  // in the world
  bits,  // shown in hexadecimal
  call,  // an index in the file's table of names
  flag,  // 0 or 1
  word,  // of an enumeration
};

struct Field {
  std::string_view name;
  Slot slot = Slot::detail;
  FieldType type = FieldType::number;
  std::string_view meaning = {};           // beyond its name
  const Enumeration* words = nullptr;      // of a word
  std::optional<std::uint64_t> none = {};  // the value of an event that does not say it
  unsigned first_bit = 0;                  // of the slot
  unsigned bits = 64;
  bool (*applies)(const sim::TraceEvent& event) = nullptr;  // nullptr: always
};

inline constexpr std::size_t kFieldsMost = 12;
struct EventSchema {
  sim::TraceKind kind = sim::TraceKind::none;
  std::string_view meaning;  // who did what
  std::array<Field, kFieldsMost> fields_or_empty = {};
  [[nodiscard]] std::span<const Field> fields() const;
};
// Of a kind that this version knows; nullptr of others.
[[nodiscard]] const EventSchema* schema_of(sim::TraceKind kind);
// Fields that events of every kind may have, where their kind says nothing else about these slots.
[[nodiscard]] std::span<const Field> common_fields();

// Calls `see(field)` with each field of the event's kind and each common one whose slot the kind leaves alone.
template <typename See>
void for_each_field(sim::TraceKind kind, const See& see) {
  const EventSchema* const schema = schema_of(kind);
  const std::span<const Field> own = schema == nullptr ? std::span<const Field>() : schema->fields();
  std::uint32_t taken = 0;
  for (const Field& field : own) taken |= 1U << static_cast<unsigned>(field.slot);
  for (const Field& field : common_fields()) {
    if ((taken >> static_cast<unsigned>(field.slot) & 1U) == 0) see(field);
  }
  for (const Field& field : own) see(field);
}

// What the event says in the field; nothing: it does not.
[[nodiscard]] std::optional<std::uint64_t> value_of(const Field& field, const sim::TraceEvent& event);
// The value's word; "unknown" of a number that has none.
[[nodiscard]] std::string_view word_of(const Field& field, std::uint64_t value);
// Empty, or which field of the event says what no recorder writes: "its reason is 12".
[[nodiscard]] std::string fault_of_fields(const sim::TraceEvent& event);

}  // namespace margay::command
