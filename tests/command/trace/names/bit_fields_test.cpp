#include "command/trace/names/bit_fields.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace margay::command {
namespace {

// "key=value" for each field; numbers without quotes.
std::string in_line(const NamedMessage& message) {
  std::string text;
  for (const BitField& each : message.fields) {
    text +=
        (text.empty() ? "" : " ") + each.key + (each.is_number ? "=" : "='") + each.value + (each.is_number ? "" : "'");
  }
  return text;
}

TEST_CASE("a library's name of match bits has fields") {
  constexpr std::uint64_t kBits = 0x0001'02ff'ffff'fffe;
  struct {
    std::string_view name, text, fields;
    std::uint64_t ignored = 0;
  } const cases[] = {
      {"a request", "a request", ""},
      {"call {number}", "call 254", ""},
      {"id {id=48:16}", "id 1", "id=1"},
      {"from {from=0:32s}, {from=0:32}", "from -2, 4294967294", "from=-2 from=4294967294"},
      {"all {all=0:64s}", "all 284773511593982", "all=284773511593982"},
      {"{sort=40:8|none|one|two} and {sort=48:16|zero}", "two and 1", "sort='two' sort=1"},
      {"class {class=Y}", "class Y", "class='Y'"},
      {"{!class=Y}{!id=48:16}a token", "a token", "class='Y' id=1"},
      {"id {id=48:16}, tag {tag=0:16}", "id 1, tag any", "id=1", 0xffff},
      {"tag {tag=0:16}", "tag 65534", "tag=65534", 0xf},
      {"{kind=40:8|a|b|c} of {id=48:16}", "c of any", "", ~std::uint64_t{0}},
      // Not fields.
      {"{}", "{}", ""},
      {"{other}", "{other}", ""},
      {"{=1:1}", "{=1:1}", ""},
      {"{key=}", "{key=}", ""},
      {"{key=1:0}", "{key=1:0}", ""},
      {"{key=60:5}", "{key=60:5}", ""},
      {"{key=64:1}", "{key=64:1}", ""},
      {"{key=1:2x}", "{key=1:2x}", ""},
      {"{key=1:2", "{key=1:2", ""},
      {"}{", "}{", ""},
  };
  for (const auto& each : cases) {
    const NamedMessage message = fill_in(each.name, kBits, 0xff, each.ignored);
    CHECK_EQ(message.text, each.text);
    CHECK_EQ(in_line(message), each.fields);
  }
}

TEST_CASE("a field of a message is found by its key") {
  const NamedMessage message = fill_in("{id=0:8}, {id=8:8}, {tag=0:4}", 0x0203, 0);
  CHECK_EQ(message.field("id"), "3");
  CHECK_EQ(message.field("tag"), "3");
  CHECK_EQ(message.field("class"), "");
}

}  // namespace
}  // namespace margay::command
