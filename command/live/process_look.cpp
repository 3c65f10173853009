#include "command/live/process_look.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace margay::command {

ProcessLook look_at_process(int pid) {
  ProcessLook look;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // proc(5): the name, in parentheses, may hold anything. Fields 3, 14, 15 and 22.
  const std::size_t behind = text.rfind(')');
  if (behind == std::string::npos) return look;
  char state = 0;
  unsigned long long user = 0;
  unsigned long long system = 0;
  unsigned long long start = 0;
  if (std::sscanf(text.c_str() + behind,
                  ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu", &state, &user,
                  &system, &start) != 4) {
    return look;
  }
  look.state = state;
  look.start_ticks = start;
  look.processor_ticks = user + system;
  return look;
}

}  // namespace margay::command
