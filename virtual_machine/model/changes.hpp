// Changes to a run (Change): other values for fields of its machine, for its ranks and seed, and for options of the
// library (`margay simulate --set NAME=VALUE`, docs/simulate.md).
//
// A name is a field of the machine ("coprocessor"), a field of all its networks ("latency_ns", "network.latency_ns") or
// of one ("mpl.latency_ns"), "ranks" or "seed", or an option of the library ("collective"). Names of times may lack
// their "_ns", and "bandwidth" stands for the three bandwidths of a network.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "virtual_machine/model/machine.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::virtual_machine {

// Splits NAME=VALUE at the first "=". Error: the text has no "=", or nothing on one of its sides. `option` is for the
// message.
[[nodiscard]] portals::Status parse_change(std::string_view text, std::string_view option, Change& out);

// The options of the library that a run may change, without the prefix of their variables (sim/boot/options).
[[nodiscard]] std::span<const std::string_view> library_options();
[[nodiscard]] bool is_library_option(std::string_view name);

// Makes a change to the settings and the machine of a run; it leaves Settings::changes, and has no effect for an option
// of the library. Error: an unknown name (the message lists the names), a field that the machine's networks lack or
// that cannot be changed, or an invalid value; `machine` may then be changed in part. Requires: `machine` is as
// parse_machine() returns it, perhaps changed before.
[[nodiscard]] portals::Status apply_change(const Change& change, Settings& settings, Machine& machine);

// The number of a value with its unit, in the units of the field: ns, us, ms and s for times; k, m and g for bandwidths
// (powers of 1,000), and for sizes and all others (powers of 1,024). Nothing: it is not a finite number.
[[nodiscard]] std::optional<double> number_of(std::string_view name, std::string_view value);
// A time with its unit, in nanoseconds. Nothing: another text, a number without a unit, or more than eleven days (sums
// of times then do not overflow).
[[nodiscard]] std::optional<std::uint64_t> time_of(std::string_view text);

}  // namespace margay::virtual_machine
