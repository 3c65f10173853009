// The fields of a machine file: one table, from which the parser and docs/machines.md are made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "virtual_machine/model/machine.hpp"

namespace margay::virtual_machine {

// A field of Machine or of Network. The type of its member determines the type of its value in a file: for example a
// TOML integer for std::uint32_t, a string for an enumeration.
template <typename Object>
struct Field {
  using Member =
      std::variant<std::string Object::*, std::vector<std::string> Object::*, std::vector<std::uint32_t> Object::*,
                   std::uint32_t Object::*, std::uint64_t Object::*, double Object::*, bool Object::*,
                   Topology Object::*, Placement Object::*, Reach Object::*>;
  // As files spell it.
  std::string_view name;
  // The member that the field's value is stored in.
  Member member;
  // The bounds of a number, inclusive, or of each number of a list; ignored for other types. A bandwidth may be
  // infinite.
  double least = 0;
  double most = 0;
  // The value of a field that a file may leave out, as text; empty: the field is required.
  std::string_view fallback = {};
  // For docs/machines.md; one sentence without a full stop.
  std::string_view meaning = {};

  [[nodiscard]] bool is_required() const { return fallback.empty(); }
};

// The fields at the top of a file, and those of each [[network]], in the order of the document.
[[nodiscard]] std::span<const Field<Machine>> machine_fields();
[[nodiscard]] std::span<const Field<Network>> network_fields();

// The values that a field takes, for messages and documents: "a whole number from 0 to 1048576".
[[nodiscard]] std::string allowed_values(const Field<Machine>& field);
[[nodiscard]] std::string allowed_values(const Field<Network>& field);

// The names of the values of an enumeration, in the order of their numbers.
[[nodiscard]] std::span<const std::string_view> value_names(Topology);
[[nodiscard]] std::span<const std::string_view> value_names(Placement);
[[nodiscard]] std::span<const std::string_view> value_names(Reach);

// The name of a value, as machine files spell it.
template <typename Enumeration>
[[nodiscard]] std::string_view name_of(Enumeration value) {
  return value_names(value)[static_cast<std::size_t>(value)];
}

}  // namespace margay::virtual_machine
