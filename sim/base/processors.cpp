#include "sim/base/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace margay::sim {

namespace {

// The quota of the control group (version 2), in processors; 0: no quota. The file contains quota and period in
// microseconds: "150000 100000", or "max 100000" without a quota.
double cgroup_quota() {
  std::ifstream group("/proc/self/cgroup");
  std::string line;
  // The group of version 2 has the empty list of controllers.
  std::string path;
  while (std::getline(group, line)) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  for (const std::string& file : {"/sys/fs/cgroup" + path + "/cpu.max", std::string("/sys/fs/cgroup/cpu.max")}) {
    std::ifstream quota(file);
    std::string amount;
    // A container may mount its own group at the top, so both files are tried.
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
  // A quota limits processor time, so it counts only if it is less than the number of allowed processors.
  const double quota = cgroup_quota();
  if (quota > 0 && quota < share.processors) {
    share.processors = quota;
    char text[64];
    std::snprintf(text, sizeof text, "a quota of %.2f processors", quota);
    share.text = text;
  }
  return share;
}

std::uint32_t Scheduler::processor() const {
  const int processor = sched_getcpu();
  return processor < 0 ? 0 : static_cast<std::uint32_t>(processor);
}

// Read at each call: the program, or a tool, may change the mask.
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
  // The first call moves the thread at once; the second restores its mask for the scheduler.
  if (sched_setaffinity(0, sizeof one, &one) == 0) static_cast<void>(sched_setaffinity(0, sizeof before, &before));
}

const Scheduler& real_scheduler() {
  static const Scheduler scheduler;
  return scheduler;
}

namespace {

constexpr int kCachesMax = 16;  // of one processor

struct ListedType {
  std::string_view name;
  // In a processor's folder: the list of processors that share the instance.
  std::string_view file;
};
constexpr std::array kListedTypes{
    ListedType{"package", "topology/package_cpus_list"}, ListedType{"socket", "topology/package_cpus_list"},
    ListedType{"die", "topology/die_cpus_list"}, ListedType{"core", "topology/core_cpus_list"}};

std::string first_word(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// The first processor of a list such as "4-7,12-15".
std::optional<int> first_of_list(const std::string& file) {
  std::ifstream in(file);
  int first = -1;
  if (in >> first && first >= 0) return first;
  return std::nullopt;
}

// The first processor that shares the data cache of that level.
std::optional<int> cache_of(const std::string& processor, char level) {
  for (int i = 0; i < kCachesMax; ++i) {
    // Indices are not levels: level 1 has two of them, for instructions and for data.
    const std::string cache = processor + "cache/index" + std::to_string(i) + "/";
    if (first_word(cache + "level") != std::string(1, level) || first_word(cache + "type") == "Instruction") continue;
    return first_of_list(cache + "shared_cpu_list");
  }
  return std::nullopt;
}

// The NUMA node, to which the processor's folder has a link.
std::optional<int> node_of(const std::string& processor, const std::string& root) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(processor, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node")) return first_of_list(root + "/node/" + name + "/cpulist");
  }
  return std::nullopt;
}

std::optional<int> instance_of(const std::string& type, int number, const std::string& root) {
  const std::string processor = root + "/cpu/cpu" + std::to_string(number) + "/";
  for (const ListedType& listed : kListedTypes) {
    if (type == listed.name) return first_of_list(processor + std::string(listed.file));
  }
  if (type.size() == 7 && type[0] == 'l' && type.ends_with("cache")) return cache_of(processor, type[1]);
  if (type == "numanode" || type == "numa") return node_of(processor, root);
  // A processing unit is the processor itself.
  if (type == "pu") return number;
  return std::nullopt;
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> numbers;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return numbers;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) numbers.push_back(i);
  }
  return numbers;
}

std::optional<int> hardware_instance(std::string_view type, const std::vector<int>& processors,
                                     const std::string& root) {
  std::string name(type);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  std::optional<int> found;
  // All processors must belong to one instance, so the first difference ends the search.
  for (const int number : processors) {
    const std::optional<int> instance = instance_of(name, number, root);
    if (!instance || (found && *found != *instance)) return std::nullopt;
    found = instance;
  }
  return found;
}

}  // namespace margay::sim
