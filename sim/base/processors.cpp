#include "sim/base/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace margay::sim {

namespace {

// Control groups v2: "max 100000" or "150000 100000" (microseconds of quota and period). 0: no quota.
double cgroup_quota() {
  std::ifstream group("/proc/self/cgroup");
  std::string line;
  std::string path;
  while (std::getline(group, line)) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  for (const std::string& file : {"/sys/fs/cgroup" + path + "/cpu.max", std::string("/sys/fs/cgroup/cpu.max")}) {
    std::ifstream quota(file);
    std::string amount;
    double period = 0;
    if (!(quota >> amount >> period)) continue;
    const double most = std::strtod(amount.c_str(), nullptr);
    return amount == "max" || period <= 0 || most <= 0 ? 0 : most / period;
  }
  return 0;
}

}  // namespace

bool are_crowded(std::string_view asked, std::uint32_t processes, const ProcessorShare& share) {
  return asked == "yield" || (asked != "spin" && static_cast<double>(processes) > share.processors);
}

ProcessorShare processor_share() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                        ? CPU_COUNT(&allowed)
                        : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  ProcessorShare share{static_cast<double>(count), std::to_string(count) + " allowed processors"};
  const double quota = cgroup_quota();
  if (quota > 0 && quota < share.processors) {
    share.processors = quota;
    char text[64];
    std::snprintf(text, sizeof text, "a quota of %.2f processors", quota);
    share.words = text;
  }
  return share;
}

std::uint32_t Scheduler::processor() const {
  const int processor = sched_getcpu();
  return processor < 0 ? 0 : static_cast<std::uint32_t>(processor);
}

std::vector<std::uint32_t> Scheduler::allowed() const {
  std::vector<std::uint32_t> processors;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (std::uint32_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  }
  return processors;
}

void Scheduler::move_to(std::uint32_t processor) const {
  cpu_set_t before;
  if (processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof before, &before) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0) static_cast<void>(sched_setaffinity(0, sizeof before, &before));
}

const Scheduler& real_scheduler() {
  static const Scheduler scheduler;
  return scheduler;
}

}  // namespace margay::sim
