// Tests of the available memory: the smallest value of the machine and of all control groups above the process.
#include "sim/base/resources.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

using margay::sim::available_memory;
using margay::sim::AvailableMemory;

namespace {

class FakeRoot {
 public:
  FakeRoot() {
    char name[] = "/tmp/margay_memory_XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
    write("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailableX: 1 kB\nMemAvailable:    5000 kB\n");
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  [[nodiscard]] AvailableMemory read() const { return available_memory(path_); }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("available memory: the machine's, if no control group limits it") {
  const FakeRoot root;
  CHECK(root.read().bytes == 5000 * 1024);
  CHECK(root.read().limit == "MemAvailable of the machine");
  root.write("/proc/self/cgroup", "0::/a\n");
  root.write("/sys/fs/cgroup/a/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/memory.current", "100\n");
  CHECK(root.read().bytes == 5000 * 1024);
}

TEST_CASE(
    "available memory: with version 2 the smallest of the groups above; droppable file pages count as available") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/a/b\n");
  root.write("/sys/fs/cgroup/a/b/memory.max", "3000000\n");
  root.write("/sys/fs/cgroup/a/b/memory.current", "1000000\n");
  CHECK(root.read().bytes == 2'000'000);
  CHECK(root.read().limit == "the memory limit of control group /a/b");
  root.write("/sys/fs/cgroup/a/memory.max", "3000000\n");
  root.write("/sys/fs/cgroup/a/memory.current", "2000000\n");
  CHECK(root.read().bytes == 1'000'000);
  CHECK(root.read().limit == "the memory limit of control group /a");
  root.write("/sys/fs/cgroup/a/memory.stat", "anon 7\nactive_file 100\ninactive_file 200\nfile 999\n");
  CHECK(root.read().bytes == 1'000'300);
  root.write("/sys/fs/cgroup/a/memory.current", "4000000\n");
  CHECK(root.read().bytes == 0);
}

TEST_CASE("available memory: with version 1, also in a container that does not have its own path") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/1\n0::/\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  root.write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n");  // not this process's: that path is cpu's
  root.write("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1\n");
  root.write("/sys/fs/cgroup/memory/memory.stat", "active_file 5\ntotal_active_file 10\ntotal_inactive_file 20\n");
  CHECK(root.read().bytes == 2'000'030);
  CHECK(root.read().limit == "the memory limit of control group /");
}

TEST_CASE("available memory: a system without these files limits nothing") {
  CHECK(available_memory("/nowhere").bytes == ~std::uint64_t{0});
  const AvailableMemory here = available_memory();
  CHECK(here.bytes != 0);
  CHECK(here.bytes <= margay::sim::physical_memory_bytes());
}
