// Tests of the sanitizing of foreign text before it is printed on a terminal.
#include "sim/base/text.hpp"

#include <doctest/doctest.h>

namespace margay::sim {
namespace {

TEST_CASE("printable text is not changed") {
  CHECK(for_terminal("").empty());
  CHECK(for_terminal("a line\n\tand another ~") == "a line\n\tand another ~");
  CHECK(for_terminal("gr\xc3\xb6\xc3\x9f"
                     "er \xe2\x82\xac \xf0\x9f\x90\x86") ==
        "gr\xc3\xb6\xc3\x9f"
        "er \xe2\x82\xac \xf0\x9f\x90\x86");
}

TEST_CASE("control characters are replaced by question marks") {
  CHECK(for_terminal("a\x1b[31mb\r\x7f\b") == "a?[31mb???");
  CHECK(for_terminal(std::string_view("a\0b", 3)) == "a?b");
  CHECK(for_terminal("\xc2\x9b"
                     "31m") == "?31m");  // CSI as one character
  CHECK(for_terminal("\xe2\x80\xae"
                     "txt") == "?txt");  // right-to-left override
  CHECK(for_terminal("\xe2\x81\xa6"
                     "txt") == "?txt");
}

TEST_CASE("a name on one line has no line ends") {
  CHECK(one_line("a\nb\tc\x1b") == "a?b?c?");
  CHECK(one_line("gr\xc3\xb6n") == "gr\xc3\xb6n");
}

TEST_CASE("each byte that is not UTF-8 is replaced by a question mark") {
  CHECK(for_terminal("\x9b"
                     "31m") == "?31m");     // CSI of 8 bits
  CHECK(for_terminal("\xc0\x9b") == "??");  // ESC in an overlong encoding
  CHECK(for_terminal("\xe0\x80\x9b") == "???");
  CHECK(for_terminal("\xed\xa0\x80") == "???");       // half of a surrogate pair
  CHECK(for_terminal("\xf4\x90\x80\x80") == "????");  // above the last code point
  CHECK(for_terminal("\xf8\x88\x80\x80\x80") == "?????");
  CHECK(for_terminal("\xc3") == "?");  // cut off
  CHECK(for_terminal("\xe2\x82z") == "??z");
}

}  // namespace
}  // namespace margay::sim
