// A libFuzzer target for the files of published names, in whose folder any process of the user can write: a file is
// accepted only if it is exactly the text of its content; and a service of any bytes has a safe file name. Corpus:
// tests/fuzz/name_file_corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "command/run/pmi/name_file.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::command;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  NameFile content;
  if (parse_name_file(text, content)) {
    MARGAY_ASSERT(name_file_text(content) == text && content.launcher.pid > 0);
    MARGAY_ASSERT(content.port.find('\n') == std::string::npos);
  } else {
    MARGAY_ASSERT(content.launcher.pid == 0 && content.port.empty());
  }
  const std::string name = name_file_of(text);
  const auto is_safe = [](char letter) { return letter > ' ' && letter != '/' && letter < 0x7f; };
  MARGAY_ASSERT(!name.empty() && name.size() <= 255 && name.front() != '.' && std::ranges::all_of(name, is_safe));
  return 0;
}
