#include "libraries/nexus/modules/loader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "libraries/nexus/modules/checked_module.hpp"
#include "libraries/nexus/modules/guard.hpp"

namespace margay::nexus::core {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_readable = false;
  bool is_executable = false;
};

// The process's mappings, in order of addresses.
std::vector<Mapping> read_mappings() {
  std::vector<Mapping> mappings;
  std::FILE* const file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return mappings;
  std::array<char, 4608> line{};
  while (std::fgets(line.data(), line.size(), file) != nullptr) {
    Mapping one;
    std::array<char, 5> access{};
    if (std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR " %4s", &one.begin, &one.end, access.data()) != 3) continue;
    one.is_readable = access[0] == 'r';
    one.is_executable = access[2] == 'x';
    mappings.push_back(one);
  }
  std::fclose(file);
  return mappings;
}

// Whether all of [at, at + bytes) is readable.
bool is_readable(const std::vector<Mapping>& mappings, const void* at, std::size_t bytes) {
  std::uintptr_t next = reinterpret_cast<std::uintptr_t>(at);
  if (next + bytes < next) return false;
  const std::uintptr_t end = next + bytes;
  for (const Mapping& one : mappings) {
    if (one.begin <= next && next < one.end && one.is_readable) next = one.end;
    if (next >= end) return true;
  }
  return false;
}

// Whether all of a string up to its end, or its first `most` bytes, are readable.
bool is_readable_text(const std::vector<Mapping>& mappings, const char* text, std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    if (!is_readable(mappings, text + i, 1)) return false;
    if (text[i] == '\0') return true;
  }
  return true;
}

template <typename Function>
bool is_code(const std::vector<Mapping>& mappings, Function* function) {
  if (function == nullptr) return true;  // check_table() reports a missing one
  const auto at = reinterpret_cast<std::uintptr_t>(function);
  for (const Mapping& one : mappings) {
    if (one.begin <= at && at < one.end) return one.is_executable;
  }
  return false;
}

// The first function whose address is not code; empty: none.
std::string wrong_address(const std::vector<Mapping>& mappings, const margay_nexus_module& table) {
  const std::array<std::pair<bool, const char*>, 17> are_code = {{
      {is_code(mappings, table.init), "init"},
      {is_code(mappings, table.finish), "finish"},
      {is_code(mappings, table.descriptor), "descriptor"},
      {is_code(mappings, table.applicable), "applicable"},
      {is_code(mappings, table.open), "open"},
      {is_code(mappings, table.open_many), "open_many"},
      {is_code(mappings, table.close), "close"},
      {is_code(mappings, table.send), "send"},
      {is_code(mappings, table.poll), "poll"},
      {is_code(mappings, table.wait_descriptor), "wait_descriptor"},
      {is_code(mappings, table.encode_most), "encode_most"},
      {is_code(mappings, table.encode), "encode"},
      {is_code(mappings, table.decode_most), "decode_most"},
      {is_code(mappings, table.decode), "decode"},
      {is_code(mappings, table.set_parameter), "set_parameter"},
      {is_code(mappings, table.parameter), "parameter"},
      {is_code(mappings, table.statistic), "statistic"},
  }};
  for (const auto& [right, name] : are_code) {
    if (!right) return name;
  }
  return {};
}

// Why the memory at `table` is not a module's table; empty: it is.
std::string check_memory(const margay_nexus_module* table) {
  const std::vector<Mapping> mappings = read_mappings();
  constexpr std::size_t kFirstFields = 2 * sizeof(std::uint32_t);
  if (table == nullptr) return std::string("its ") + MARGAY_NEXUS_MODULE_SYMBOL + "() returned null";
  if (!is_readable(mappings, table, kFirstFields)) return "its table is not in readable memory";
  const bool is_whole = is_readable(mappings, table, sizeof *table);
  // A table of another version may be shorter, so its version comes first.
  if (!is_whole && table->version == MARGAY_NEXUS_MODULE_VERSION) return "its table is not in readable memory";
  if (table->version != MARGAY_NEXUS_MODULE_VERSION || table->size < sizeof *table) {
    margay_nexus_module head{};
    head.version = table->version;
    head.size = table->size;
    return check_table(head);
  }
  if (table->name != nullptr && !is_readable_text(mappings, table->name, MARGAY_NEXUS_NAME_MOST + 1)) {
    return "its name is not in readable memory";
  }
  if (table->description != nullptr && !is_readable_text(mappings, table->description, kDescriptionMost)) {
    return "its description is not in readable memory";
  }
  if (std::string error = check_table(*table); !error.empty()) return error;
  if (const std::string name = wrong_address(mappings, *table); !name.empty()) {
    return "the address of its function " + name + " is not that of code";
  }
  return {};
}

void unload_shared_object(void* loaded) {
  dlclose(loaded);
}

}  // namespace

portals::Status load_shared_object(const std::string& path, std::unique_ptr<Module>& out) {
  const auto refuse = [&](const std::string& why) {
    return portals::Status::error("cannot load the Nexus module " + path + ": " + why);
  };
  if (path.find('/') == std::string::npos) return refuse("the path has no '/'; write ./" + path);
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return refuse(std::strerror(errno));
  if (!S_ISREG(file.st_mode)) return refuse("it is not a regular file");
  watch_crashes();
  void* loaded = nullptr;
  {
    const CrashGuard crash(path.c_str(), "a constructor");
    const TimeGuard time(path, "a constructor");
    dlerror();
    loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (loaded == nullptr) {
    const char* const error = dlerror();
    return refuse(error == nullptr ? "dlopen() failed" : error);
  }
  const auto symbol = dlsym(loaded, MARGAY_NEXUS_MODULE_SYMBOL);
  std::string error;
  const margay_nexus_module* table = nullptr;
  if (symbol == nullptr) {
    error = std::string("it exports no function ") + MARGAY_NEXUS_MODULE_SYMBOL +
            "(); declare it extern, with default visibility";
  } else if (const auto function = reinterpret_cast<margay_nexus_module_function>(symbol);
             !is_code(read_mappings(), function)) {
    error = std::string("its ") + MARGAY_NEXUS_MODULE_SYMBOL + " is not a function";
  } else {
    const CrashGuard crash(path.c_str(), MARGAY_NEXUS_MODULE_SYMBOL "()");
    const TimeGuard time(path, MARGAY_NEXUS_MODULE_SYMBOL "()");
    table = function();
  }
  if (error.empty()) error = check_memory(table);
  if (table == nullptr || !error.empty()) {
    dlclose(loaded);
    return refuse(error);
  }
  out = std::make_unique<CheckedModule>(*table, unload_shared_object, loaded);
  return {};
}

}  // namespace margay::nexus::core
