#include "virtual_machine/model/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/base/limits.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/base/text.hpp"
#include "sim/base/wire_kind.hpp"
#include "sim/boot/parse.hpp"
#include "virtual_machine/model/machine_fields.hpp"

namespace margay::virtual_machine {
namespace {

using portals::Status;

constexpr std::array<std::string_view, 7> kLibraryOptions = {"collective", "heap_bytes", "protocol", "rates",
                                                             "rma", "skip_poll", "way"};

constexpr std::string_view kSkipPoll = "skip_poll";
constexpr std::string_view kTimeEnd = "_ns";
constexpr std::string_view kBandwidthEnd = "_bytes_per_s";
// Stands for all fields of a network that end with kBandwidthEnd.
constexpr std::string_view kBandwidth = "bandwidth";
constexpr std::string_view kRanks = "ranks";
constexpr std::string_view kSeed = "seed";
// Up to this number a double has all whole numbers.
constexpr std::uint64_t kSeedMost = std::uint64_t{1} << 53;
// In front of a field, for all networks.
constexpr std::string_view kAllNetworks = "network";

struct Unit {
  std::string_view name;
  double scale;
};
constexpr std::array<Unit, 4> kTimes = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 3> kRates = {{{"k", 1e3}, {"m", 1e6}, {"g", 1e9}}};
constexpr std::array<Unit, 3> kSizes = {{{"k", 1024}, {"m", 1024.0 * 1024}, {"g", 1024.0 * 1024 * 1024}}};

// The name of a field behind that of its network.
std::string_view field_in(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// Whether a field has this name. "latency" is latency_ns.
template <typename Object>
bool is_called(const Field<Object>& field, std::string_view name) {
  if (name == kBandwidth && std::is_same_v<Object, Network>) return field.name.ends_with(kBandwidthEnd);
  return name == field.name ||
         (field.name.ends_with(kTimeEnd) && name == field.name.substr(0, field.name.size() - kTimeEnd.size()));
}

template <typename Object>
std::string_view full_name(std::span<const Field<Object>> fields, std::string_view name) {
  for (const Field<Object>& field : fields)
    if (is_called(field, name)) return field.name;
  return "";
}

std::span<const Unit> units_of(std::string_view name) {
  for (const std::string_view field :
       {full_name(machine_fields(), field_in(name)), full_name(network_fields(), field_in(name))}) {
    if (field.ends_with(kTimeEnd)) return kTimes;
    if (field.ends_with(kBandwidthEnd)) return kRates;
  }
  return kSizes;
}

// A finite number, with one of the units or without.
std::optional<double> read_number(std::string_view value, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view rest = value.substr(static_cast<std::size_t>(end - value.data()));
  if (rest.empty()) return number;
  for (const Unit& unit : units) {
    if (rest == unit.name) return number * unit.scale;
  }
  return std::nullopt;
}

// Takes the text of a value into a member. False: invalid.
template <typename Object, typename Value>
bool take(std::string_view name, std::string_view text, const Field<Object>& field, Value& out) {
  if constexpr (std::is_same_v<Value, bool>) {
    out = text == "true";
    return out || text == "false";
  } else if constexpr (std::is_enum_v<Value>) {
    const std::span<const std::string_view> names = value_names(Value{});
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return false;
    out = static_cast<Value>(found - names.begin());
    return true;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    const bool is_unlimited = text == "inf" && std::is_same_v<Value, double>;
    const std::optional<double> number = is_unlimited ? kUnlimited : number_of(name, text);
    if (!number || *number < field.least || *number > field.most) return false;
    if (std::is_integral_v<Value> && *number != std::floor(*number)) return false;
    out = static_cast<Value>(*number);
    return true;
  } else {
    return false;
  }
}

// Whether a change may give the field another value. The others determine how the rest of the file is read.
template <typename Object>
bool is_changeable(const Field<Object>& field) {
  return std::visit(
      []<typename Value>(Value Object::*const) {
        return std::is_arithmetic_v<Value> || std::is_same_v<Value, Placement>;
      },
      field.member);
}

bool is_of(const Field<Network>& field, const Network& network) {
  if (field.name == "arity") return network.topology == Topology::fat_tree;
  if (field.name == "nodes_per_switch") {
    return network.topology != Topology::fat_tree && network.topology != Topology::crossbar;
  }
  return true;
}

std::string units_text(std::span<const Unit> units) {
  return units.data() == kTimes.data() ? "a unit ns, us, ms or s may follow" : "k, m or g may follow";
}

template <typename Object>
Status set_field(const Change& change, const Field<Object>& field, Object& object) {
  const bool is_set =
      std::visit([&](auto member) { return take(change.name, change.value, field, object.*member); }, field.member);
  if (is_set) return {};
  const bool is_number = std::visit(
      []<typename Value>(Value Object::*const) { return std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>; },
      field.member);
  return Status::error(fmt::format("{}: invalid value \"{}\": it takes {}{}", sim::one_line(change.name),
                                   sim::one_line(change.value), allowed_values(field),
                                   is_number ? "; " + units_text(units_of(change.name)) : ""));
}

Status fixed_field(std::string_view name) {
  return Status::error(fmt::format(
      "{} cannot be changed for a run: copy the machine's file (margay machines NAME --toml) and change it there",
      name));
}

Status unknown_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Field<Machine>& field : machine_fields())
    if (is_changeable(field)) names.push_back(field.name);
  for (const Field<Network>& field : network_fields())
    if (is_changeable(field)) names.push_back(field.name);
  names.insert(names.end(), {kBandwidth, kRanks, kSeed});
  names.insert(names.end(), kLibraryOptions.begin(), kLibraryOptions.end());
  const std::string_view nearest = sim::nearest_spelling(field_in(name), names);
  return Status::error(fmt::format("unknown field \"{}\"{}: the names are {}", sim::one_line(name),
                                   nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                                   fmt::join(names, ", ")));
}

template <typename Number>
Status set_number(const Change& change, std::uint64_t least, std::uint64_t most, Number& out) {
  const std::optional<double> number = number_of(change.name, change.value);
  if (!number || *number != std::floor(*number) || *number < static_cast<double>(least) ||
      *number > static_cast<double>(most)) {
    return Status::error(fmt::format("{}: invalid value \"{}\": it takes a whole number from {} to {}", change.name,
                                     sim::one_line(change.value), least, most));
  }
  out = static_cast<Number>(*number);
  return {};
}

// The library ignores a wire that it does not have.
Status check_polling(const Change& change) {
  std::vector<sim::NamedPollSetting> settings;
  if (Status status = sim::parse_poll_settings(change.value, settings); !status.ok())
    return Status::error(change.name + ": " + status.sentence());
  for (const sim::NamedPollSetting& setting : settings) {
    const auto is_it = [&](const sim::WireKind& kind) { return kind.name == setting.wire; };
    if (setting.wire != sim::name(sim::WireId::self) && std::ranges::any_of(sim::kWireKinds, is_it)) continue;
    return Status::error(fmt::format("{}: unknown wire \"{}\": use shm, tcp or virtual", change.name,
                                     sim::one_line(setting.wire)));
  }
  return {};
}

// The networks that a change names, by number. Error: no network has this name.
Status find_networks(std::string_view name, const Machine& machine, std::vector<std::size_t>& out) {
  const std::size_t dot = name.rfind('.');
  const std::string_view network = dot == std::string_view::npos ? kAllNetworks : name.substr(0, dot);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < machine.networks.size(); ++i) {
    if (network == kAllNetworks || network == machine.networks[i].name) out.push_back(i);
    names.push_back(machine.networks[i].name);
  }
  if (!out.empty()) return {};
  return Status::error(fmt::format("{}: machine {} has no network \"{}\": it has {}; \"network\" means all of them",
                                   sim::one_line(name), sim::one_line(machine.name), sim::one_line(network),
                                   sim::one_line(fmt::format("{}", fmt::join(names, ", ")))));
}

// Sets the field in all of `networks` whose topology has it.
Status set_in_networks(const Change& change, const Field<Network>& field, const std::vector<std::size_t>& networks,
                       Machine& machine) {
  bool is_set = false;
  for (const std::size_t number : networks) {
    if (!is_of(field, machine.networks[number])) continue;
    if (Status status = set_field(change, field, machine.networks[number]); !status.ok()) return status;
    is_set = true;
  }
  if (is_set) return {};
  return Status::error(fmt::format("{}: the topology of machine {} has none: choose another field or machine",
                                   sim::one_line(change.name), sim::one_line(machine.name)));
}

}  // namespace

Status parse_change(std::string_view text, std::string_view option, Change& out) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return Status::error(
        fmt::format("option {}: \"{}\" is not NAME=VALUE, such as short_limit=4k", option, sim::one_line(text)));
  }
  out = {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  return {};
}

std::span<const std::string_view> library_options() {
  return kLibraryOptions;
}

bool is_library_option(std::string_view name) {
  return std::find(kLibraryOptions.begin(), kLibraryOptions.end(), name) != kLibraryOptions.end();
}

Status apply_change(const Change& change, Settings& settings, Machine& machine) {
  if (change.name == kSkipPoll) return check_polling(change);
  if (is_library_option(change.name)) return {};
  if (change.name == kRanks) return set_number(change, 1, sim::kRanksMax, settings.ranks);
  if (change.name == kSeed) return set_number(change, 0, kSeedMost, settings.seed);
  for (const Field<Machine>& field : machine_fields()) {
    if (!is_called(field, change.name)) continue;
    return is_changeable(field) ? set_field(change, field, machine) : fixed_field(field.name);
  }
  const std::string_view name = field_in(change.name);
  bool is_known = false;
  for (const Field<Network>& field : network_fields()) {
    if (!is_called(field, name)) continue;
    is_known = true;
    if (!is_changeable(field)) return fixed_field(field.name);
    std::vector<std::size_t> networks;
    if (Status status = find_networks(change.name, machine, networks); !status.ok()) return status;
    if (Status status = set_in_networks(change, field, networks, machine); !status.ok()) return status;
  }
  return is_known ? Status() : unknown_name(change.name);
}

std::optional<double> number_of(std::string_view name, std::string_view value) {
  return read_number(value, units_of(name));
}

std::optional<std::uint64_t> time_of(std::string_view text) {
  constexpr double kMostNs = 1e15;
  const std::optional<double> ns = text.ends_with('s') ? read_number(text, kTimes) : std::nullopt;
  if (!ns || *ns < 0 || *ns > kMostNs) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*ns));
}

}  // namespace margay::virtual_machine
