// The schema of the page's tables: columns with their type and the value for "not known". Writers are checked against
// it, and viewer/src/data/tables.js, by which the page reads the tables, is generated from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace margay::command {

// An unknown time, or the time of an event that did not happen.
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
// The row number in a reference to another table if there is no such row. In column `target` of table `locks` it stands
// for all ranks.
inline constexpr std::int32_t kNoRow = -1;

// A column: name, type, and the value for "not known".
struct PageColumn {
  std::string_view name;
  // "u8", "u32", "i32", "f64", little-endian.
  std::string_view type;
  double not_known = 0;
};
// A table with its columns in order.
struct PageTable {
  std::string_view name;
  std::span<const PageColumn> columns;
};
// All tables.
[[nodiscard]] std::span<const PageTable> page_tables();
// The table of that name; nullptr: there is none.
[[nodiscard]] const PageTable* page_table(std::string_view name);

}  // namespace margay::command
