#include "libraries/rmi/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "margay/rmi/error.hpp"

namespace margay::rmi::core {
namespace {

// The variable's value, or `usual` if it is unset or empty. The whole text must be a number: "16k" would otherwise be
// 16.
std::size_t number(const char* name, std::size_t usual, std::size_t least, std::size_t most) {
  const char* const set = std::getenv(name);
  if (set == nullptr || *set == '\0') return usual;
  const std::string_view text(set);
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail(std::string(name) + "=" + set + " is invalid; set it to " + std::to_string(least) + " to " +
         std::to_string(most));
  }
  return value;
}

std::optional<Tree> tree() {
  const char* const set = std::getenv("MARGAY_RMI_FENCE");
  const std::string_view text(set == nullptr ? "" : set);
  if (text.empty()) return std::nullopt;
  if (text == "exchange") return Tree::exchange;
  if (text == "hypercube") return Tree::hypercube;
  if (text == "flat") return Tree::flat;
  if (text == "binary") return Tree::binary;
  if (text == "central") return Tree::central;
  if (text == "mcs") return Tree::mcs;
  fail("MARGAY_RMI_FENCE=" + std::string(text) +
       " is invalid; set it to flat, binary, hypercube, exchange, central or mcs");
}

Scheduler scheduler() {
  const char* const set = std::getenv("MARGAY_RMI_SCHEDULER");
  const std::string_view text(set == nullptr ? "" : set);
  if (text.empty() || text == "polling") return Scheduler::explicit_polling;
  if (text == "interrupt") return Scheduler::interrupt;
  if (text == "blocking") return Scheduler::blocking_thread;
  if (text == "nonblocking") return Scheduler::nonblocking_thread;
  fail("MARGAY_RMI_SCHEDULER=" + std::string(text) +
       " is invalid; set it to polling, interrupt, blocking or nonblocking");
}

Rule rule() {
  const char* const set = std::getenv("MARGAY_RMI_FENCE_RULE");
  const std::string_view text(set == nullptr ? "" : set);
  if (text.empty() || text == "safe") return Rule::safe;
  if (text == "paper") return Rule::paper;
  fail("MARGAY_RMI_FENCE_RULE=" + std::string(text) + " is invalid; set it to safe or paper");
}

}  // namespace

Settings read_settings() {
  Settings settings;
  // A multiple of 8, as requests are.
  settings.buffer_bytes = number("MARGAY_RMI_BUFFER", kBufferMost, kBufferLeast, kBufferMost) / 8 * 8;
  settings.factor = static_cast<std::uint32_t>(number("MARGAY_RMI_FACTOR", 0, 1, 1U << 20));
  settings.queue_bytes = number("MARGAY_RMI_QUEUE", kQueueBytes, kQueueLeast, std::size_t{1} << 40);
  settings.tree = tree();
  settings.rule = rule();
  settings.scheduler = scheduler();
  return settings;
}

}  // namespace margay::rmi::core
