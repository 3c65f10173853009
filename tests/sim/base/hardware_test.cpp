// Tests of hardware_instance(): the instance of a given type (core, cache, node, package) that contains a set of
// processors, on a simulated machine.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/base/processors.hpp"

namespace margay::sim {
namespace {

// Two packages of two cores with two threads each: 0 and 4 are one core, and so on. A NUMA node and an L3 for each
// package.
struct Machine {
  Machine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "margay_hardware_XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    for (int number = 0; number < 8; ++number) {
      const int core = number % 4;
      const std::string package = core < 2 ? "0-1,4-5" : "2-3,6-7";
      const std::string threads = std::to_string(core) + "," + std::to_string(core + 4);
      const std::string processor = "/cpu/cpu" + std::to_string(number);
      write(processor + "/topology/package_cpus_list", package);
      write(processor + "/topology/core_cpus_list", threads);
      write(processor + "/node" + std::to_string(core / 2) + "/anything", "");
      cache(processor + "/cache/index0", "1", "Instruction", "7");
      cache(processor + "/cache/index1", "1", "Data", threads);
      cache(processor + "/cache/index2", "3", "Unified", package);
    }
    write("/node/node0/cpulist", "0-1,4-5");
    write("/node/node1/cpulist", "2-3,6-7");
  }
  ~Machine() { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + file).parent_path());
    std::ofstream(root + file) << text << "\n";
  }
  void cache(const std::string& folder, const char* level, const char* type, const std::string& list) const {
    write(folder + "/level", level);
    write(folder + "/type", type);
    write(folder + "/shared_cpu_list", list);
  }
  std::string root;
};

TEST_CASE_FIXTURE(Machine, "processors of one instance of a type yield its number, those of several yield none") {
  struct Case {
    const char* type;
    std::vector<int> processors;
    std::optional<int> instance;
  };
  const Case cases[] = {
      {"Package", {2, 3, 7}, 2},
      {"package", {0, 1}, 0},
      {"socket", {1, 2}, std::nullopt},
      {"Core", {1, 5}, 1},
      {"Core", {5}, 1},
      {"core", {1, 2}, std::nullopt},
      {"NUMANode", {6, 2}, 2},
      {"NUMANode", {4}, 0},
      {"numanode", {0, 1, 2, 3}, std::nullopt},
      {"L3Cache", {2, 7}, 2},
      {"L1Cache", {3, 7}, 3},
      {"L1Cache", {2, 3}, std::nullopt},
      {"L2Cache", {0}, std::nullopt},
      {"PU", {6}, 6},
      {"PU", {2, 6}, std::nullopt},
      {"Die", {0}, std::nullopt},
      {"", {0}, std::nullopt},
      {"no such thing", {0}, std::nullopt},
      {"Package", {}, std::nullopt},
      {"Core", {99}, std::nullopt},
  };
  for (const Case& one : cases) {
    CAPTURE(one.type);
    CHECK(hardware_instance(one.type, one.processors, root) == one.instance);
  }
}

TEST_CASE("this process has at least one allowed processor") {
  const std::vector<int> mine = allowed_processors();
  REQUIRE_FALSE(mine.empty());
  CHECK(hardware_instance("PU", {mine.front()}) == mine.front());
}

}  // namespace
}  // namespace margay::sim
