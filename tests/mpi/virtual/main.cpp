// A driver that runs an MPI program, built as a shared object, on a virtual machine, once for each seed:
//
//   virtual_mpi [--nodes N] [--collective NAME=ALGORITHM,...] RANKS FIRST_SEED LAST_SEED ./program.so [ARGUMENT...]
//
// Each seed runs in a process of its own, and each rank has a copy of the program with variables of its own. Prints
// each seed that failed; the exit status is then 1. For a single seed it prints the length of the run.
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
using margay::testing::VirtualWishes;
using Main = int (*)(int, char**);

constexpr int kAllWell = 42;  // a program that calls exit(0) early has not succeeded
constexpr unsigned kSecondsEach = 60;

// The loader needs copies that are different files; they are deleted as soon as they are open.
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

struct Task {
  VirtualWishes wishes;
  std::uint32_t ranks = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<std::string> command;  // the program and its arguments
};

int run_seed(const Task& task, std::uint64_t seed) {
  alarm(kSecondsEach);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  const std::vector<Main> mains = load(task.command.front(), task.ranks);
  VirtualMachine machine(task.ranks, seed, task.wishes);
  const std::string wrong = machine.run([&mains, &task](std::uint32_t rank) {
    std::vector<std::string> words = task.command;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return mains[rank](static_cast<int>(words.size()), arguments.data());
  });
  std::fputs(wrong.c_str(), stderr);
  if (task.first == task.last) std::fprintf(stderr, "%u ranks: %s\n", task.ranks, machine.measure().c_str());
  return wrong.empty() ? kAllWell : 1;
}

bool passes_seed(const Task& task, std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(run_seed(task, seed));
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kAllWell) return true;
  std::fprintf(stderr, "%s, %u ranks, seed %llu: %s %d\n", std::filesystem::path(task.command.front()).stem().c_str(),
               task.ranks, static_cast<unsigned long long>(seed),
               WIFSIGNALED(status) ? "ended by signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

// False if the arguments do not match the usage at the top of this file.
bool parse(std::vector<std::string> words, Task& task) {
  while (words.size() > 1 && words.front().starts_with("--")) {
    if (words.front() == "--collective") {
      task.wishes.collective = words[1];
    } else if (words.front() == "--nodes") {
      task.wishes.nodes = static_cast<std::uint32_t>(std::strtoul(words[1].c_str(), nullptr, 10));
    } else {
      return false;
    }
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 4) return false;
  task.ranks = static_cast<std::uint32_t>(std::strtoul(words[0].c_str(), nullptr, 10));
  task.first = std::strtoull(words[1].c_str(), nullptr, 10);
  task.last = std::strtoull(words[2].c_str(), nullptr, 10);
  task.command.assign(words.begin() + 3, words.end());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Task task;
  if (!parse({argv + 1, argv + argc}, task)) {
    std::fprintf(
        stderr,
        "usage: virtual_mpi [--nodes N] [--collective LIST] RANKS FIRST_SEED LAST_SEED PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  int failures = 0;
  for (std::uint64_t seed = task.first; seed <= task.last; ++seed) failures += passes_seed(task, seed) ? 0 : 1;
  return failures == 0 ? 0 : 1;
}
