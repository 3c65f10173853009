// The schema of trace events: the fields of each kind, with their names, meanings and places in an event's bytes.
// It is the only such list. The checks of a file, `margay trace print --raw`, `margay trace export --format json` and
// the tables of docs/trace_format.md derive from it. The recorder is in sim/trace.
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

// A set of named numbers: all numbers in [first, end).
struct Enumeration {
  // Heading in the document, as "Protocols".
  std::string_view title;
  // The name of a number below `end`.
  std::string_view (*name)(std::uint32_t number);
  std::uint32_t end;
  std::uint32_t first = 0;
};
// The enumerations that docs/trace_format.md lists, in its order: all of the schema except the findings.
[[nodiscard]] std::span<const Enumeration* const> enumerations();

// The members of sim::TraceEvent that fields are stored in. `a_and_b` is one 64-bit number, lower half in `a`.
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
// The slot's name in the document, as "match_bits".
[[nodiscard]] std::string_view name(Slot slot);

// The format of a field's number.
enum class FieldType : std::uint8_t {
  number,
  rank,        // in the world
  bits,        // shown in hexadecimal
  call,        // an index in the file's table of names
  flag,        // 0 or 1
  enumerated,  // a value of an enumeration
};

// One field: a range of bits in a slot.
struct Field {
  std::string_view name;
  Slot slot = Slot::detail;
  FieldType type = FieldType::number;
  // The meaning, as far as the name does not give it.
  std::string_view meaning = {};
  // The names of its values; only of type `enumerated`.
  const Enumeration* enumeration = nullptr;
  // The value that stands for an absent field.
  std::optional<std::uint64_t> none = {};
  // Lowest bit in the slot, and number of bits.
  unsigned first_bit = 0;
  unsigned bits = 64;
  // Whether this event has the field; nullptr: every event of the kind has it.
  bool (*applies)(const sim::TraceEvent& event) = nullptr;
};

// Bound on the fields of a kind; the table is a constant array.
inline constexpr std::size_t kFieldsMost = 12;
// One kind of event.
struct EventSchema {
  sim::TraceKind kind = sim::TraceKind::none;
  // The action that the event records, with its actor.
  std::string_view meaning;
  // The fields, then empty ones.
  std::array<Field, kFieldsMost> fields_or_empty = {};
  [[nodiscard]] std::span<const Field> fields() const;
};
// The schema of a kind; nullptr: unknown to this version.
[[nodiscard]] const EventSchema* schema_of(sim::TraceKind kind);
// Fields that every kind has in addition to its own, unless one of its own is in the same slot.
[[nodiscard]] std::span<const Field> common_fields();

// Calls `see(field)` for each common field whose slot the kind does not use, then for each field of the kind.
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

// The field's value in the event; empty: the event lacks the field.
[[nodiscard]] std::optional<std::uint64_t> value_of(const Field& field, const sim::TraceEvent& event);
// The value's name; "unknown" if it has none.
[[nodiscard]] std::string_view value_name(const Field& field, std::uint64_t value);
// "", or the first field with a value that no recorder writes: "its reason is 12". Bits of `reason` that no field uses
// must be 0.
[[nodiscard]] std::string fault_of_fields(const sim::TraceEvent& event);

}  // namespace margay::command
