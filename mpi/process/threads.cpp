#include "mpi/process/threads.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi/call/fatal_error.hpp"
#include "mpi/process/machine.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/boot/thread_ranks.hpp"
#include "sim/shm/published.hpp"

namespace margay::mpi {

using portals::Status;

namespace {

using Entry = int (*)(int, char**);

// A rank and its thread.
struct RankThread {
  RankThread(std::uint32_t number, int argc, char** argv) : number(number), process(number) {
    for (int i = 0; i < argc; ++i) arguments.emplace_back(argv[i]);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
  }
  // The thread's number among the ranks of this process.
  const std::uint32_t number;
  ThreadMpiProcess process;
  // The rank's copy of the arguments, because main() may change its own.
  std::vector<std::string> arguments;
  std::vector<char*> pointers;
  Entry entry = nullptr;
  pid_t pid = getpid();
  pthread_t thread{};
  int status = 0;
};
using RankThreads = std::vector<std::unique_ptr<RankThread>>;

// The ranks while their threads run; otherwise nullptr. exit() reads it in any thread.
constinit sim::Published<RankThreads*> running;
// Locked while a rank ends, because the report of its leaks uses a timer and a signal of the whole process.
constinit std::mutex ending;

// Assigns the calling thread to a rank for a while.
class Visit {
 public:
  explicit Visit(MpiProcess& process) : before_(current_process()), rank_(is_rank_thread() ? current_rank() : nullptr) {
    set_thread_process(process);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { set_thread_process(before_, rank_); }

 private:
  MpiProcess& before_;
  MpiRank* const rank_;
};

// Runs in exit(): while other ranks are in calls, if one of their threads has called it.
[[gnu::destructor]] void end_running_ranks() {
  const RankThreads* const ranks = running.get();
  if (ranks == nullptr) return;
  for (const auto& rank : *ranks) {
    const Visit visit(rank->process);
    end_machine_of(rank->process);
  }
}

// The end of a rank at the end of its thread's function, also by pthread_exit(), which unwinds that function.
struct EndOfRank {
  RankThread& rank;
  ~EndOfRank() {
    // A child of fork() returns from `entry` as from main(). A process does not outlive its return from main() either.
    if (getpid() != rank.pid || is_machine_held(rank.process)) exit_process(rank.status);
    // Without the mutex, because forwarders of several nodes wait for each other.
    end_forwarding_of(rank.process);
    {
      const std::lock_guard guard(ending);
      end_machine_of(rank.process);
    }
    sim::thread_rank_ended(rank.number, rank.status);
  }
};

// `margay stacks` knows the name (command/live/stacks/stack.cpp).
extern "C" void* margay_rank_thread(void* argument) {
  RankThread& rank = *static_cast<RankThread*>(argument);
  set_thread_process(rank.process);
  const EndOfRank end{rank};
  rank.status = rank.entry(static_cast<int>(rank.arguments.size()), rank.pointers.data());
  return nullptr;
}

[[noreturn]] void fail(const std::string& sentence) {
  static_cast<void>(std::fprintf(stderr, "margay: %s\n", sentence.c_str()));
  exit_process(1);
}

}  // namespace

int run_ranks_as_threads(int argc, char** argv, int (*entry)(int, char**)) {
  std::uint32_t count = 1;
  if (Status status = sim::ranks_of_process(count); !status.ok()) fail(status.sentence());
  if (count == 1) return entry(argc, argv);
  if (running.get() != nullptr) fail("the ranks of this process run already as threads; start them once, in main()");
  RankThreads ranks;
  for (std::uint32_t number = 0; number < count; ++number) {
    ranks.push_back(std::make_unique<RankThread>(number, argc, argv));
    ranks.back()->entry = entry;
  }
  running.set(&ranks);
  for (const auto& rank : ranks) {
    if (const int error = pthread_create(&rank->thread, nullptr, &margay_rank_thread, rank.get()); error != 0) {
      fail("cannot create thread " + std::to_string(rank->number) + " of " + std::to_string(count) + ": " +
           std::strerror(error) +
           "; raise the limits on processes and addresses (ulimit -u, -v), or take fewer --threads");
    }
  }
  int status = 0;
  for (const auto& rank : ranks) {
    pthread_join(rank->thread, nullptr);
    if (status == 0) status = rank->status;
  }
  running.set(nullptr);
  return status;
}

}  // namespace margay::mpi

// For tests of ranks as threads. No header declares it.
extern "C" [[gnu::visibility("default")]] int MPIX_Margay_run_threads(int argc, char** argv,
                                                                      int (*entry)(int, char**)) {
  return margay::mpi::run_ranks_as_threads(argc, argv, entry);
}
