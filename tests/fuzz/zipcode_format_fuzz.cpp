// libFuzzer target: the format language of Zipcode's invoices. Any text is split into specifications that print to an
// equal format, or refused with a caret below a character of it. Corpus: tests/fuzz/zipcode_format_corpus.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/zipcode/invoices/format.hpp"
#include "portals/base/assert.hpp"

namespace {

using namespace margay::zipcode::core;

std::string printed(const Amount& amount) {
  if (amount.from == Amount::From::argument) return "*";
  if (amount.from == Amount::From::address) return "&";
  MARGAY_ASSERT(amount.value > 0);
  return std::to_string(amount.value);
}

// The format of these specifications, with every default spelt.
std::string printed(const std::vector<Specification>& specs) {
  std::string text;
  for (const Specification& spec : specs) {
    MARGAY_ASSERT(is_identifier(spec.type));
    text += "%" + printed(spec.count) + "." + printed(spec.stride) + (spec.ignore ? "-" : "");
    text.append(spec.type).append(spec.has_extra ? "(*)" : "");
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view format(reinterpret_cast<const char*>(data), bytes);
  std::vector<Specification> specs;
  const std::string error = parse_format(format, specs);
  if (error.empty()) {
    MARGAY_ASSERT(!specs.empty());
    const std::string text = printed(specs);
    std::vector<Specification> again;
    MARGAY_ASSERT(parse_format(text, again).empty());
    MARGAY_ASSERT(printed(again) == text);
    for (const Specification& spec : specs)
      MARGAY_ASSERT(format[spec.begin] == '%' && format.substr(spec.type_begin, spec.type.size()) == spec.type);
  } else {
    MARGAY_ASSERT(specs.empty());
    // Three lines of printable characters; the caret stands below the text, or behind its end.
    const std::size_t first = error.find('\n');
    const std::size_t last = error.rfind('\n');
    MARGAY_ASSERT(first != last && error.find('\n', first + 1) == last);
    MARGAY_ASSERT(error.back() == '^' && error.size() - last - 1 <= last - first);
    for (const char c : error) MARGAY_ASSERT(c == '\n' || (c >= ' ' && c <= '~'));
  }
  return 0;
}
