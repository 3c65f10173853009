#include "sim/base/resources.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace margay::sim {

namespace {

// The number in a file; nothing when the file does not exist or contains "max".
std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

// The number after `key` in a file of keys and numbers.
std::optional<std::uint64_t> number_of(const std::string& file, std::string_view key) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    if (line[key.size()] != ' ' && line[key.size()] != ':') continue;
    return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return std::nullopt;
}

// The file names of one version of control groups.
struct Spelling {
  const char* mount;
  const char* limit;
  const char* used;
  // Keys in memory.stat of file pages that can be dropped.
  std::initializer_list<const char*> droppable;
};
const Spelling kSecond{"/sys/fs/cgroup", "memory.max", "memory.current", {"active_file", "inactive_file"}};
const Spelling kFirst{"/sys/fs/cgroup/memory",
                      "memory.limit_in_bytes",
                      "memory.usage_in_bytes",
                      {"total_active_file", "total_inactive_file"}};

std::optional<std::uint64_t> left_in(const std::string& folder, const Spelling& spelling) {
  const std::optional<std::uint64_t> limit = number_in(folder + "/" + spelling.limit);
  std::optional<std::uint64_t> used = number_in(folder + "/" + spelling.used);
  if (!limit || !used) return std::nullopt;
  std::uint64_t droppable = 0;
  for (const char* key : spelling.droppable) droppable += number_of(folder + "/memory.stat", key).value_or(0);
  // Saturating, here and below, because the files are read one after the other, while their values change.
  used = *used - std::min(*used, droppable);
  return *limit - std::min(*limit, *used);
}

// Applies the limits of a group and of all above it. In a container the group's path may not exist, but the top of the
// mount is the container's group.
void limit_by_groups(const std::string& root, std::string path, const Spelling& spelling, AvailableMemory& memory) {
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    const std::optional<std::uint64_t> left = left_in(root + spelling.mount + path, spelling);
    if (left && *left < memory.bytes) {
      memory = {.bytes = *left, .limit = "the memory limit of control group " + (path.empty() ? "/" : path)};
    }
    // The loop goes upwards, because each ancestor's limit holds for this process too.
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

// Whether a list of controllers contains memory: "name=systemd", "cpu,memory"; empty for version 2.
bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "memory") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

AvailableMemory available_memory(const std::string& root) {
  AvailableMemory memory;
  if (const auto kilobytes = number_of(root + "/proc/meminfo", "MemAvailable")) {
    memory = {.bytes = *kilobytes * 1024, .limit = "MemAvailable of the machine"};
  }
  std::ifstream groups(root + "/proc/self/cgroup");  // lines as "4:memory:/path", "0::/path"
  std::string line;
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) limit_by_groups(root, path, kSecond, memory);
    if (names_memory(controllers)) limit_by_groups(root, path, kFirst, memory);
  }
  return memory;
}

std::uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : 0;
}

void raise_descriptor_limit_for(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  // No privilege is needed up to the hard limit.
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

std::optional<std::uint64_t> file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string describe_file_size_limit() {
  const std::optional<std::uint64_t> limit = file_size_limit();
  return limit ? "the limit on file sizes (ulimit -f) is " + std::to_string(*limit) + " bytes" : std::string();
}

// The lines are sorted by address: "55d0c8a00000-55d0c8a21000 rw-p ...".
bool is_writable_memory(const void* begin, std::size_t bytes) {
  auto next = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(begin));
  const std::uint64_t end = next + bytes;
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (next < end && std::getline(maps, line)) {
    std::uint64_t from = 0, to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3) return false;
    // A mapping below the range, or one that has been covered already.
    if (to <= next) continue;
    if (from > next || rights[0] != 'r' || rights[1] != 'w') return false;
    next = to;
  }
  return next >= end;
}

}  // namespace margay::sim
