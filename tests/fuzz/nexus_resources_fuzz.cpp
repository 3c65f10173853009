// libFuzzer target: the resource file of Nexus and its command line. Any text is accepted whole or refused with an
// error, and accepted choices stay within their bounds. Corpus: tests/fuzz/nexus_resources_corpus.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nexus/modules/arguments.hpp"
#include "libraries/nexus/modules/resources.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::nexus::core;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  Choices choices;
  if (parse_resources(text, 3, "gpu7", choices).empty()) {
    std::vector<std::string> modules;
    if (chosen_modules(choices, {"local", "shm", "tcp"}, modules).empty())
      MARGAY_ASSERT(modules.size() <= kModulesMost);
    for (const ForwarderChoice& one : choices.forwarders) MARGAY_ASSERT(one.for_contexts.size() <= kForwardedMost);
    Choices sum;
    add_choices(sum, choices);
    MARGAY_ASSERT(sum.parameters.size() == choices.parameters.size());
  } else {
    MARGAY_ASSERT(!choices.modules && choices.parameters.empty() && choices.loads.empty());
  }
  // The same text as words of a command line.
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    words.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::vector<std::string> before = words;
  std::string resources;
  Choices arguments;
  const std::string error = take_arguments(words, arguments, resources);
  MARGAY_ASSERT(error.empty() ? words.size() <= before.size() : words == before);
  return 0;
}
