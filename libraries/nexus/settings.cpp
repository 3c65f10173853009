#include "libraries/nexus/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libraries/nexus/library.hpp"
#include "margay/nexus/error.hpp"

namespace margay::nexus::core {
namespace {

// The variable's value, or `usual` if it is unset or empty.
std::size_t number(const char* name, std::size_t usual, std::size_t least, std::size_t most) {
  const char* const set = std::getenv(name);
  if (set == nullptr || *set == '\0') return usual;
  const std::string_view text(set);
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail("invalid " + std::string(name) + "=" + set + "; set it to a number from " + std::to_string(least) + " to " +
         std::to_string(most));
  }
  return value;
}

}  // namespace

Settings read_settings(std::uint32_t threads) {
  if (threads > kThreadsMost)
    fail("init: Options::threads is " + std::to_string(threads) + "; use at most " + std::to_string(kThreadsMost));
  Settings settings;
  settings.queue_bytes = number("MARGAY_NEXUS_QUEUE", kQueueBytes, kQueueLeast, std::size_t{1} << 40);
  settings.threads = static_cast<std::uint32_t>(number("MARGAY_NEXUS_THREADS", threads, 0, kThreadsMost));
  return settings;
}

}  // namespace margay::nexus::core
