// Numbers and times of few characters, and lines that fit. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace margay::command {

// 4 digits at most and a factor of 1000: "950", "12.3k", "1.2G".
[[nodiscard]] std::string short_number(double number);
// "0.4", "12", "3m20", "5h07".
[[nodiscard]] std::string short_time(double seconds);

// The same with its unit: "0.4 s", "3m20s", "5h07m".
[[nodiscard]] std::string time_in_words(double seconds);

// Lines of at most `room` characters, broken at spaces where there are some; all but the first are indented.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, std::size_t room);

}  // namespace margay::command
