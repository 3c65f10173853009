#include "command/calibrate/other_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/hardware.hpp"

namespace margay::command {

namespace {

// A line of /proc/stat: "cpu3 user nice system idle iowait irq softirq steal ...", in ticks. Seconds that were not
// idle.
double busy_s(std::istringstream& line) {
  constexpr std::size_t kIdle = 3, kWaiting = 4;
  std::array<double, 8> ticks{};
  double busy = 0;
  for (std::size_t i = 0; i < ticks.size() && line >> ticks[i]; ++i) {
    if (i != kIdle && i != kWaiting) busy += ticks[i];
  }
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Of the processors that this process may use; -1: unknown.
double all_s() {
  const std::vector<int> allowed = sim::allowed_processors();
  std::ifstream stat("/proc/stat");
  double sum = 0;
  bool any = false;
  for (std::string text; std::getline(stat, text);) {
    std::istringstream line(text);
    std::string name;
    line >> name;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0) continue;
    if (std::ranges::find(allowed, std::atoi(name.c_str() + 3)) == allowed.end()) continue;
    sum += busy_s(line);
    any = true;
  }
  return any ? sum : -1;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double own_s() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    sum += seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  return sum;
}

}  // namespace

OtherLoad::OtherLoad() : all_s_(all_s()), own_s_(own_s()), begin_(std::chrono::steady_clock::now()) {}

double OtherLoad::share() const {
  const double now_s = all_s();
  const auto processors = static_cast<double>(sim::allowed_processors().size());
  if (all_s_ < 0 || now_s < 0) return 0;
  const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double others_s = now_s - all_s_ - (own_s() - own_s_);
  return passed_s <= 0 ? 0 : std::clamp(others_s / (passed_s * processors), 0.0, 1.0);
}

}  // namespace margay::command
