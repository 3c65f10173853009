#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

// The parser then returns errors and throws nothing.
#define TOML_EXCEPTIONS 0
// Version 3.3 asserts that a table's name begins with a character of a name, and reports an error if it does not, as in
// [+]. The assertion is disabled, because a file must not end the program. NDEBUG is undefined, because with it toml++
// makes the compiler assume that its assertions hold.
#undef NDEBUG
#define TOML_ASSERT static_cast<void>
#include <toml++/toml.h>

#include "sim/base/text.hpp"
#include "sim/boot/parse.hpp"
#include "virtual_machine/model/machine.hpp"
#include "virtual_machine/model/machine_fields.hpp"

namespace margay::virtual_machine {
namespace {

using portals::Status;

constexpr std::string_view kNetworks = "network";
constexpr std::size_t kNetworksMost = 8;

enum class Verdict : std::uint8_t { taken, wrong_type, out_of_range };

// Takes a value of the file into a member. On failure `out` is unspecified. No type is converted into another
// (value_exact), except for an integer that stands for a real number.
template <typename Value>
Verdict take(const toml::node& node, double least, double most, Value& out) {
  if constexpr (std::is_same_v<Value, bool>) {
    const auto value = node.value_exact<bool>();
    if (!value) return Verdict::wrong_type;
    out = *value;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    const auto value = node.value_exact<std::string>();
    if (!value) return Verdict::wrong_type;
    out = *value;
    return out.empty() ? Verdict::out_of_range : Verdict::taken;
  } else if constexpr (std::is_enum_v<Value>) {
    const auto value = node.value_exact<std::string_view>();
    if (!value) return Verdict::wrong_type;
    const std::span<const std::string_view> names = value_names(Value{});
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != *value) continue;
      out = static_cast<Value>(i);
      return Verdict::taken;
    }
    return Verdict::out_of_range;
  } else if constexpr (std::is_same_v<Value, double>) {
    if (!node.is_number()) return Verdict::wrong_type;
    out = node.value<double>().value_or(0);
    // The comparison is false for NaN.
    return out >= least && out <= most ? Verdict::taken : Verdict::out_of_range;
  } else {
    const auto value = node.value_exact<std::int64_t>();
    if (!value) return Verdict::wrong_type;
    const auto number = static_cast<double>(*value);
    if (!(number >= least && number <= most)) return Verdict::out_of_range;
    out = static_cast<Value>(*value);
  }
  return Verdict::taken;
}

// The same for a list. The first invalid element determines the verdict.
template <typename Value>
Verdict take(const toml::node& node, double least, double most, std::vector<Value>& out) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return Verdict::wrong_type;
  out.assign(list->size(), Value{});
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (const Verdict verdict = take((*list)[i], least, most, out[i]); verdict != Verdict::taken) return verdict;
  }
  return std::is_same_v<Value, std::string> && out.empty() ? Verdict::out_of_range : Verdict::taken;
}

// Whether a table has a field of this name.
template <typename Object>
bool has_field(std::span<const Field<Object>> fields, std::string_view name) {
  for (const Field<Object>& field : fields) {
    if (field.name == name) return true;
  }
  return false;
}

template <typename Object>
std::vector<std::string_view> field_names(std::span<const Field<Object>> fields) {
  std::vector<std::string_view> names;
  for (const Field<Object>& field : fields) names.push_back(field.name);
  return names;
}

// A value as the file has it, for a message; only short ones, because a message is one line.
std::string value_text(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format(" {}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format(" {}", *number);
  if (const auto text = node.value_exact<std::string_view>(); text && text->size() <= 32) {
    return fmt::format(" \"{}\"", sim::one_line(*text));
  }
  return "";
}

// The text with a '?' for each character beyond ASCII, so that lines and columns stay the same.
std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    // The further bytes of a character in UTF-8.
    if (byte >= 0x80 && byte < 0xc0) continue;
    ascii += byte < 0x80 ? character : '?';
  }
  return ascii;
}

// The line and column of an index in the text, as toml++ counts them.
toml::source_region place_of(std::string_view ascii, std::size_t at) {
  const std::string_view before = ascii.substr(0, at);
  const auto line = static_cast<toml::source_index>(std::count(before.begin(), before.end(), '\n') + 1);
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const toml::source_position position{line, static_cast<toml::source_index>(at - line_begin + 1)};
  return {position, position, nullptr};
}

// Parses the tables of one file.
class FileParser {
 public:
  explicit FileParser(std::string_view file) : file_(file) {}

  // Reads a text as TOML. toml++ 3.3 has undefined behaviour for some characters beyond ASCII outside strings and
  // comments, where they are errors, and in strings of several lines. So it first reads a text with a '?' for each of
  // them, which is an error in the same places.
  Status read(std::string_view text, toml::parse_result& root) const {
    const std::string ascii = in_ascii(text);
    root = toml::parse(ascii, file_);
    if (root && ascii != text) {
      for (const std::string_view quotes : {"\"\"\"", "'''"}) {
        if (const std::size_t at = ascii.find(quotes); at != std::string::npos) {
          return error(place_of(ascii, at), "strings of several lines are supported in ASCII files only; use one line");
        }
      }
      root = toml::parse(text, file_);
    }
    return root ? Status() : error(root.error().source(), sim::one_line(root.error().description()));
  }

  Status parse(const toml::table& root, Machine& machine) const {
    if (Status status = take_fields(root, "the machine", machine_fields(), machine); !status.ok()) return status;
    const toml::node* const list = root.get(kNetworks);
    if (list == nullptr) return error(root.source(), "missing [[network]]; a machine has at least one network");
    const toml::array* const networks = list->as_array();
    // is_homogeneous() is false for an empty list.
    if (networks == nullptr || !networks->is_homogeneous<toml::table>()) {
      return error(list->source(), "network must be a list of tables; write [[network]] above the fields of each");
    }
    if (networks->size() > kNetworksMost) {
      return error((*networks)[kNetworksMost].source(),
                   fmt::format("too many networks; use at most {}", kNetworksMost));
    }
    for (const toml::node& one : *networks) {
      if (Status status = take_network(*one.as_table(), machine); !status.ok()) return status;
    }
    return check_reach(networks->back(), machine);
  }

  Status error(const toml::source_region& where, std::string_view what) const {
    // The root of an empty file has no position.
    const auto line = where.begin.line == 0 ? 1 : where.begin.line;
    const auto column = where.begin.column == 0 ? 1 : where.begin.column;
    return Status::error(fmt::format("{}:{}:{}: {}", file_, line, column, what));
  }

 private:
  // Takes all fields of a table, and rejects others. `owner` names the table in messages.
  template <typename Object>
  Status take_fields(const toml::table& table, std::string_view owner, std::span<const Field<Object>> fields,
                     Object& out) const {
    // First, because a misspelled name is the likeliest cause of a missing field.
    for (const auto& [key, node] : table) {
      if (key.str() == kNetworks && std::is_same_v<Object, Machine>) continue;
      if (!has_field(fields, key.str())) return unknown_field(key, owner, fields);
    }
    for (const Field<Object>& field : fields) {
      const toml::node* const node = table.get(field.name);
      if (node == nullptr && !field.is_required()) continue;
      if (node == nullptr) {
        return error(table.source(),
                     fmt::format("missing field {} of {}; use {}", field.name, owner, allowed_values(field)));
      }
      const Verdict verdict =
          std::visit([&](auto member) { return take(*node, field.least, field.most, out.*member); }, field.member);
      if (verdict == Verdict::taken) continue;
      return error(node->source(),
                   fmt::format("{}:{} {}; use {}", field.name, value_text(*node),
                               verdict == Verdict::wrong_type ? "is of the wrong type" : "is out of range",
                               allowed_values(field)));
    }
    return {};
  }

  template <typename Object>
  Status unknown_field(const toml::key& key, std::string_view owner, std::span<const Field<Object>> fields) const {
    const std::string what = fmt::format("unknown field \"{}\" of {}: ", sim::one_line(key.str()), owner);
    if (std::is_same_v<Object, Network> && has_field(machine_fields(), key.str())) {
      return error(key.source(), what + "it describes the machine; move it above the first [[network]]");
    }
    if (std::is_same_v<Object, Machine> && has_field(network_fields(), key.str())) {
      return error(key.source(), what + "it describes a network; move it below a [[network]]");
    }
    const std::vector<std::string_view> names = field_names(fields);
    const std::string_view nearest = sim::nearest_spelling(key.str(), names);
    return error(key.source(), what + (nearest.empty() ? fmt::format("the fields are {}", fmt::join(names, ", "))
                                                       : fmt::format("did you mean {}?", nearest)));
  }

  Status take_network(const toml::table& table, Machine& machine) const {
    Network network;
    if (Status status = take_fields(table, "[[network]]", network_fields(), network); !status.ok()) return status;
    for (const Network& other : machine.networks) {
      if (other.name != network.name) continue;
      return error(table.get("name")->source(),
                   fmt::format("name: duplicate network name \"{}\"; choose another one", sim::one_line(network.name)));
    }
    if (Status status = check_topology(table, network, machine); !status.ok()) return status;
    machine.networks.push_back(std::move(network));
    return {};
  }

  // Rejects the fields of other topologies, and requires those of this one.
  Status check_topology(const toml::table& table, const Network& network, const Machine& machine) const {
    const bool has_shape = network.topology == Topology::mesh || network.topology == Topology::torus;
    const bool is_tree = network.topology == Topology::fat_tree;
    const struct {
      std::string_view field;
      bool applies;
      bool is_required;
    } rules[] = {{"shape", has_shape, true},
                 {"arity", is_tree, true},
                 {"nodes_per_switch", has_shape || network.topology == Topology::hypercube, false}};
    for (const auto& rule : rules) {
      const toml::node* const node = table.get(rule.field);
      if (node != nullptr && !rule.applies) {
        return error(node->source(), fmt::format("{}: invalid field of a {}; remove it, or change the topology",
                                                 rule.field, name_of(network.topology)));
      }
      if (node == nullptr && rule.applies && rule.is_required) {
        return error(table.source(), fmt::format("missing field {} of [[network]]; a {} requires it (docs/machines.md)",
                                                 rule.field, name_of(network.topology)));
      }
    }
    return has_shape ? check_shape(table.get("shape")->source(), network, machine) : Status();
  }

  Status check_shape(const toml::source_region& where, const Network& network, const Machine& machine) const {
    if (network.shape.empty() || network.shape.size() > kDimensionsMost) {
      return error(where, fmt::format("shape: invalid number of dimensions {}; use 1 to {}", network.shape.size(),
                                      kDimensionsMost));
    }
    // The smallest network of this shape must be within the bounds: an open dimension has at least one switch.
    Network least = network;
    std::replace(least.shape.begin(), least.shape.end(), 0U, 1U);
    if (places_of(least) > kNodesMost) {
      return error(where, fmt::format("shape: more than {} places for nodes; use a smaller one", kNodesMost));
    }
    const std::uint64_t places = places_of(network);
    if (places != 0 && places < machine.nodes) {
      return error(
          where, fmt::format("shape: {} places are too few for {} nodes; enlarge the shape or nodes_per_switch", places,
                             machine.nodes));
    }
    return {};
  }

  Status check_reach(const toml::node& last, const Machine& machine) const {
    for (const Network& network : machine.networks) {
      if (network.applies == Reach::any) return {};
    }
    return error(last.source(), "the partitions are not connected; set applies = \"any\" in a network");
  }

  std::string_view file_;
};

}  // namespace

Status parse_machine(std::string_view text, std::string_view file_name, Machine& out) {
  const std::string file = sim::one_line(file_name);
  const FileParser parser(file);
  toml::parse_result root;
  if (Status status = parser.read(text, root); !status.ok()) return status;
  Machine machine;
  if (Status status = parser.parse(root.table(), machine); !status.ok()) return status;
  out = std::move(machine);
  return {};
}

}  // namespace margay::virtual_machine
