// Unit tests of the format language of invoices: the grammar, and each error with its caret.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libraries/zipcode/invoices/format.hpp"

namespace {

using namespace margay::zipcode::core;

// One line for each specification: "10.2-d", with '*' and '&' as in the format.
std::string amount_text(const Amount& amount) {
  if (amount.from == Amount::From::argument) return "*";
  if (amount.from == Amount::From::address) return "&";
  return std::to_string(amount.value);
}

std::string parsed(std::string_view format) {
  std::vector<Specification> specs;
  if (const std::string error = parse_format(format, specs); !error.empty()) {
    CHECK(specs.empty());
    return error;
  }
  std::string text;
  for (const Specification& spec : specs)
    text += amount_text(spec.count) + "." + amount_text(spec.stride) + (spec.ignore ? "-" : "") +
            std::string(spec.type) + (spec.has_extra ? "(*)" : "") + ";";
  return text;
}

}  // namespace

TEST_CASE("zipcode format: the paper's examples and all forms") {
  const std::pair<const char*, const char*> good[] = {
      {"%i%10.2d", "1.1i;10.2d;"},                         // example 1
      {"%i%&.&d", "1.1i;&.&d;"},                           // example 2, with the '&' that print has lost
      {"%i%matrix(*)%20d", "1.1i;1.1matrix(*);20.1d;"},    // example 3
      {"%c%s%i%l%f%d", "1.1c;1.1s;1.1i;1.1l;1.1f;1.1d;"},  // all built-in types
      {"%*d", "*.1d;"},
      {"%&d", "&.1d;"},
      {"%.3d", "1.3d;"},
      {"%.*d", "1.*d;"},
      {"%.&d", "1.&d;"},
      {"%*.*-d", "*.*-d;"},
      {"%-i", "1.1-i;"},
      {"%5-i", "5.1-i;"},
      {"%5.2-matrix", "5.2-matrix;"},
      {"%double", "1.1double;"},  // the longest identifier is the type
      {"%ic", "1.1ic;"},
      {"%_d9%d", "1.1_d9;1.1d;"},
      {"%i %d\n%3f ", "1.1i;1.1d;3.1f;"},  // blanks between specifications
      {"%2147483647c", "2147483647.1c;"},
      {"%007d", "7.1d;"},
  };
  for (const auto& [format, expected] : good) CHECK(parsed(format) == expected);
}

TEST_CASE("zipcode format: each error has its place and what was expected") {
  struct Bad {
    const char* format;
    const char* what;
    std::size_t at;
  };
  const Bad all[] = {
      {"", "the format is empty: expected '%'", 0},
      {"  ", "the format is empty: expected '%'", 0},
      {"d", "expected '%' and not 'd'", 0},
      {"%i,%d", "expected '%' and not ','", 2},
      {"%", "expected a type (c, s, i, l, f, d or a user type), a count, '.' or '-' and not the end of the format", 1},
      {"%%", "expected a type (c, s, i, l, f, d or a user type), a count, '.' or '-' and not '%'", 1},
      {"%10", "expected a type (c, s, i, l, f, d or a user type), '.' or '-' and not the end of the format", 3},
      {"%10.2", "expected a type (c, s, i, l, f, d or a user type) or '-' and not the end of the format", 5},
      {"%10.2- d", "expected a type (c, s, i, l, f, d or a user type) and not ' '", 6},
      {"%i%&.d", "expected a stride after '.' (a positive integer, '*' or '&') and not 'd'", 5},  // as printed
      {"%.", "expected a stride after '.' (a positive integer, '*' or '&') and not the end of the format", 2},
      {"%3.-d", "expected a stride after '.' (a positive integer, '*' or '&') and not '-'", 3},
      {"%0d", "the count is 0: expected a positive integer, '*' or '&'", 1},
      {"%2.0d", "the stride is 0: expected a positive integer, '*' or '&'", 3},
      {"%2147483648d", "the count exceeds 2147483647", 1},
      {"%99999999999999999999999999d", "the count exceeds 2147483647", 1},
      {"%-3d", "expected a type (c, s, i, l, f, d or a user type) and not '3'", 2},
      {"%**d", "expected a type (c, s, i, l, f, d or a user type), '.' or '-' and not '*'", 2},
      {"%--d", "expected a type (c, s, i, l, f, d or a user type) and not '-'", 2},
      {"%d(*)", "\"(*)\" is only for user types, and 'd' is a built-in type", 2},
      {"%matrix(", "expected \"(*)\" after 'matrix'", 7},
      {"%matrix(&)", "expected \"(*)\" after 'matrix'", 7},
      {"%matrix()%d", "expected \"(*)\" after 'matrix'", 7},
      {"%i\x01", "expected '%' and not the byte 1", 2},
      {"%i\xff", "expected '%' and not the byte 255", 2},
  };
  for (const Bad& bad : all) {
    const std::string error = parsed(bad.format);
    const std::string first = error.substr(0, error.find('\n'));
    const std::string last = error.substr(error.rfind('\n') + 1);
    // The first line is the reason; the caret stands below the place, two columns in.
    CHECK_MESSAGE(first == bad.what, bad.format);
    CHECK_MESSAGE(last == std::string(bad.at + 2, ' ') + "^", bad.format);
  }
  CHECK(parsed("%i%&.d") ==
        "expected a stride after '.' (a positive integer, '*' or '&') and not 'd'\n"
        "  %i%&.d\n"
        "       ^");
}

TEST_CASE("zipcode format: the error of a long format shows the part around the place") {
  std::string format;
  for (int i = 0; i < 1000; ++i) format += "%i";
  const std::string error = parsed(format + "%10.d" + format);
  const std::size_t begin = error.find('\n') + 1;
  const std::string line = error.substr(begin, error.find('\n', begin) - begin);
  const std::string caret = error.substr(error.rfind('\n') + 1);
  CHECK(line.substr(0, 5) == "  ...");
  CHECK(line.substr(line.size() - 3) == "...");
  CHECK(line.size() < 90);
  REQUIRE(caret.size() <= line.size());
  CHECK(line[caret.size() - 1] == 'd');
  CHECK(line.substr(caret.size() - 5, 4) == "%10.");
}

TEST_CASE("zipcode format: a zero byte is an error, not the end") {
  CHECK(parsed(std::string_view("%i\0%d", 5)).find("expected '%' and not the byte 0") == 0);
}

TEST_CASE("zipcode format: identifiers") {
  for (const char* const good : {"a", "_", "matrix", "m2", "A_b9"}) CHECK(is_identifier(good));
  for (const char* const bad : {"", "2m", "a-b", "a b", "\xe4", "a(*)"}) CHECK(!is_identifier(bad));
}
