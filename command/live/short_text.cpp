#include "command/live/short_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace margay::command {

std::string short_number(double number) {
  constexpr double kThousand = 1000;
  constexpr double kPlain = 9999.5;
  if (number < kPlain) return fmt::format("{:.0f}", number);
  const char* unit = "kMGTPE";
  number /= kThousand;
  while (number >= kThousand - 0.5 && unit[1] != '\0') {
    number /= kThousand;
    ++unit;
  }
  return number < 99.95 ? fmt::format("{:.1f}{}", number, *unit) : fmt::format("{:.0f}{}", number, *unit);
}

std::string short_time(double seconds) {
  constexpr double kTenSeconds = 9.95;
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  if (seconds < kTenSeconds) return fmt::format("{:.1f}", seconds);
  const long whole = std::lround(std::min(seconds, 1e9));
  if (whole < kMinute) return std::to_string(whole);
  if (whole < kHour) return fmt::format("{}m{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}h{:02}", whole / kHour, whole % kHour / kMinute);
}

std::string time_in_words(double seconds) {
  constexpr double kMinute = 59.5;
  constexpr double kHour = 3599.5;
  return short_time(seconds) + (seconds < kMinute ? " s" : seconds < kHour ? "s" : "m");
}

std::vector<std::string> wrapped(const std::string& text, std::size_t room) {
  constexpr std::string_view kIndent = "  ";
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > room && room > kIndent.size()) {
    const std::size_t from = lines.empty() ? 0 : kIndent.size();
    const std::size_t space = rest.rfind(' ', room);
    const bool found = space != std::string::npos && space > from;
    lines.push_back(rest.substr(0, found ? space : room));
    rest = std::string(kIndent) + rest.substr(found ? space + 1 : room);
  }
  lines.push_back(rest);
  return lines;
}

}  // namespace margay::command
