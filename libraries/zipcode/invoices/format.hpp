// The format language of invoices: a string of conversion specifications, and its errors.
//
//   format         { blank } { specification { blank } }
//   specification  '%' [ number | '*' | '&' ] [ '.' ( number | '*' | '&' ) ] [ '-' ] type
//   type           identifier [ "(*)" ]     "(*)" only after the name of a user type
//
// A number is positive; a type is the longest identifier, so that "%double" is one type.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace margay::zipcode::core {

// A count or a stride: a number of the format; `*`, an int among the arguments; or `&`, the address of one.
struct Amount {
  enum class From { format, argument, address };
  From from = From::format;
  int value = 1;
};

struct Specification {
  Amount count;
  Amount stride;
  // '-': the space is reserved.
  bool ignore = false;
  // "d", or the name of a user type; views the format.
  std::string_view type;
  // "(*)": the conversion methods receive an extra pointer.
  bool has_extra = false;
  // The positions of '%' and of the type in the format.
  std::size_t begin = 0;
  std::size_t type_begin = 0;
};

// Splits a format. Returns an empty string; or an error with the format and a caret below the place, and `out` is
// empty. Whether user types are registered is not checked.
[[nodiscard]] std::string parse_format(std::string_view format, std::vector<Specification>& out);

// `what`, a colon and a line break, a part of the format around position `at`, and a caret below it:
//
//   expected a type at the end of the format
//     %i%10
//          ^
[[nodiscard]] std::string with_caret(const std::string& what, std::string_view format, std::size_t at);

// Whether `name` is a C identifier.
[[nodiscard]] bool is_identifier(std::string_view name);

}  // namespace margay::zipcode::core
