// Runs an MPI program, built as a shared object, on a virtual machine, once for each seed:
//
//   virtual_mpi RANKS FIRST_SEED LAST_SEED ./program.so...
//
// Each seed is a process of its own, and each rank has a copy of the program with variables of its own. Exit status 1
// when any seed failed; each that did is named. Of one seed alone it tells how long the run was.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mpi/virtual/machine.hpp"

namespace {

using margay::testing::VirtualMachine;
using Main = int (*)(int, char**);

constexpr int kAllWell = 42;  // a program that ends by exit(0) half way is not well
constexpr unsigned kSecondsEach = 60;

// Copies are different files to the loader; they go as soon as they are open.
std::vector<Main> load(const std::string& path, std::uint32_t copies) {
  std::vector<Main> mains;
  for (std::uint32_t i = 0; i < copies; ++i) {
    const std::string copy = path + "." + std::to_string(getpid()) + "." + std::to_string(i);
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    void* const object = dlopen(copy.c_str(), RTLD_LAZY | RTLD_LOCAL);
    std::filesystem::remove(copy);
    if (object == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::_Exit(2);
    }
    mains.push_back(reinterpret_cast<Main>(dlsym(object, "main")));
  }
  return mains;
}

int run_seed(const std::string& path, std::uint32_t ranks, std::uint64_t seed, bool measured) {
  alarm(kSecondsEach);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  const std::vector<Main> mains = load(path, ranks);
  VirtualMachine machine(ranks, seed);
  const std::string wrong = machine.run([&mains, &path](std::uint32_t rank) {
    std::string name = path;
    char* arguments[] = {name.data(), nullptr};
    return mains[rank](1, arguments);
  });
  std::fputs(wrong.c_str(), stderr);
  if (measured) std::fprintf(stderr, "%u ranks: %s\n", ranks, machine.measure().c_str());
  return wrong.empty() ? kAllWell : 1;
}

bool seed_is_well(const std::string& path, std::uint32_t ranks, std::uint64_t seed, bool measured) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(run_seed(path, ranks, seed, measured));
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kAllWell) return true;
  std::fprintf(stderr, "%s, %u ranks, seed %llu: %s %d\n", std::filesystem::path(path).stem().c_str(), ranks,
               static_cast<unsigned long long>(seed), WIFSIGNALED(status) ? "ended by signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: virtual_mpi RANKS FIRST_SEED LAST_SEED PROGRAM...\n");
    return 2;
  }
  const auto ranks = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const std::uint64_t first = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t last = std::strtoull(argv[3], nullptr, 10);
  int failures = 0;
  for (int i = 4; i < argc; ++i) {
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      failures += seed_is_well(argv[i], ranks, seed, first == last) ? 0 : 1;
    }
  }
  return failures == 0 ? 0 : 1;
}
