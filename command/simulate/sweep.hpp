// The values of `margay simulate --sweep NAME=VALUES`, one run for each: short_limit=1k..64k, ranks=2,4,8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {

struct Sweep {
  // Of each value: virtual_machine/model/changes.hpp.
  std::string name;
  // Of an option of the library that is a list of items: the item ("allreduce" of collective=allreduce=tree,bucket).
  std::string item;
  std::vector<std::string> values;

  // For headings: "short_limit", "collective allreduce".
  [[nodiscard]] std::string title() const { return item.empty() ? name : name + " " + item; }
  [[nodiscard]] virtual_machine::Change change(std::size_t value) const;
};

// The most values of one sweep.
inline constexpr std::size_t kSweepValuesMost = 256;

// Parses the argument of an option --sweep. VALUES is a list with commas, of values and of ranges a..b. A range begins
// with a, doubles, and ends with b; both are numbers above 0, perhaps with a unit. Error: names the option, the text
// and the cure. Names and values are checked by apply_change().
[[nodiscard]] portals::Status parse_sweep(std::string_view text, Sweep& out);

}  // namespace margay::command
