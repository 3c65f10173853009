#include "command/run/stream/pattern.hpp"

#include <ctime>

#include "command/run/options/hosts.hpp"

namespace margay::command {

std::string fill_pattern(const std::string& pattern, std::uint32_t rank) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text += pattern[i];
      continue;
    }
    const char letter = pattern[++i];
    if (letter == 'r') text += std::to_string(rank);
    if (letter == 'h') text += host_name();
    if (letter == 'g' || letter == 'p') text += '0';
    if (letter == 't') text += std::to_string(::time(nullptr));
    if (letter == '%') text += '%';
  }
  return text;
}

}  // namespace margay::command
