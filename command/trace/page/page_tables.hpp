// The tables of the page: their columns, the type of each and the value that stands for "not known". The writers are
// checked against this list, and viewer/src/data/tables.js, by which the page reads them, is made from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace margay::command {

// A time that is not known, or of what did not happen.
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
// A row of another table that is not there.
inline constexpr std::int32_t kNoRow = -1;

struct PageColumn {
  std::string_view name;
  std::string_view type;  // "u8", "u32", "i32", "f64", little-endian
  double not_known = 0;
};
struct PageTable {
  std::string_view name;
  std::span<const PageColumn> columns;
};
[[nodiscard]] std::span<const PageTable> page_tables();
// nullptr: the page has no such table.
[[nodiscard]] const PageTable* page_table(std::string_view name);

}  // namespace margay::command
