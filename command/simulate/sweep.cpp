#include "command/simulate/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/base/text.hpp"
#include "virtual_machine/model/changes.hpp"

namespace margay::command {
namespace {

using portals::Status;

constexpr std::string_view kRangeDots = "..";

Status sweep_error(std::string_view values, std::string_view what) {
  return Status::error(fmt::format("option --sweep: {}: {}", sim::one_line(values), what));
}

constexpr std::string_view kDigits = "0123456789.";

// A size of 1,024 times a unit, or more, in the next unit: "2m" for "2048k".
std::string in_larger_unit(std::string_view name, double number, std::string_view unit) {
  constexpr double kStep = 1024;
  for (const std::string_view next : {"m", "g"}) {
    const std::optional<double> one = virtual_machine::number_of(name, "1" + std::string(unit));
    const bool is_next = one && virtual_machine::number_of(name, "1" + std::string(next)) == *one * kStep;
    if (!is_next || std::fmod(number, kStep) != 0) continue;
    number /= kStep;
    unit = next;
  }
  return fmt::format("{}{}", number, unit);
}

// Adds the values of a range "a..b".
Status add_range(std::string_view range, Sweep& sweep) {
  const std::size_t dots = range.find(kRangeDots);
  const std::string_view first = range.substr(0, dots);
  const std::string_view last = range.substr(dots + kRangeDots.size());
  const std::optional<double> begin = virtual_machine::number_of(sweep.name, first);
  const std::optional<double> end = virtual_machine::number_of(sweep.name, last);
  if (!begin || !end) {
    return sweep_error(range,
                       "a range is from one number to another, such as 1k..64k: write others one by one, with commas");
  }
  if (*begin <= 0 || *begin > *end) {
    return sweep_error(range,
                       "a range begins above 0, and doubles up to its end: write other values one by one, with commas");
  }
  // Each value has the unit of the first.
  const std::size_t digits = std::min(first.find_first_not_of(kDigits), first.size());
  const std::string_view unit = first.substr(digits);
  const double number = *virtual_machine::number_of(sweep.name, first.substr(0, digits));
  for (double factor = 1; *begin * factor < *end; factor *= 2) {
    sweep.values.push_back(in_larger_unit(sweep.name, number * factor, unit));
    if (sweep.values.size() > kSweepValuesMost) break;
  }
  sweep.values.emplace_back(last);
  return {};
}

}  // namespace

virtual_machine::Change Sweep::change(std::size_t value) const {
  return {name, item.empty() ? values[value] : item + "=" + values[value]};
}

Status parse_sweep(std::string_view text, Sweep& out) {
  virtual_machine::Change change;
  if (Status status = virtual_machine::parse_change(text, "--sweep", change); !status.ok()) return status;
  Sweep sweep;
  sweep.name = change.name;
  std::string_view values = change.value;
  if (const std::size_t equals = values.find('='); equals != std::string_view::npos) {
    sweep.item = values.substr(0, equals);
    values.remove_prefix(equals + 1);
  }
  for (std::size_t begin = 0; begin <= values.size();) {
    const std::size_t end = std::min(values.find(',', begin), values.size());
    const std::string_view value = values.substr(begin, end - begin);
    begin = end + 1;
    if (value.empty()) return sweep_error(text, "a value is empty: write values with one comma between them");
    if (value.find(kRangeDots) == std::string_view::npos) {
      sweep.values.emplace_back(value);
    } else if (Status status = add_range(value, sweep); !status.ok()) {
      return status;
    }
    if (sweep.values.size() > kSweepValuesMost) {
      return sweep_error(text, fmt::format("more than {} values: use several commands", kSweepValuesMost));
    }
  }
  out = std::move(sweep);
  return {};
}

}  // namespace margay::command
