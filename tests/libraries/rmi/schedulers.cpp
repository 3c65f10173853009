// Cases of the ways to schedule requests (paper, 6.2), of monitors and of removed objects.
//   rmi_schedulers [--nonblocking | --without-memory] CASE...
// --nonblocking: chooses the scheduler by set_scheduler(). --without-memory: first makes a start() that fails.
#include <margay/rmi.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using cases::need, cases::need_error;
using rmi::async_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence, rmi::rmi_object, rmi::rmi_poll,
    rmi::sync_rmi;

struct Counter {
  int total = 0;
  void add(int x) { total += x; }
  int get() const { return total; }
  int add_and_get(int x) { return total += x; }
};

// While the program holds a monitor, no method of its object runs.
void held() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int nodes = get_num_nodes(), me = get_node_id();
  {
    const rmi::rmi_monitor alone(&counter);
    // Other nodes' requests may have been executed before.
    const int before = counter.total;
    for (int node = 0; node < nodes; ++node) async_rmi(node, &counter, &Counter::add, 1);
    for (int i = 0; i < 100; ++i) {
      rmi_poll();
      need(counter.total == before, "no method runs while its object's monitor is held");
    }
    need_error("rmi_monitor is held", [] { rmi_fence(); });
    need_error("holds the monitor", [&] { const rmi::rmi_monitor again(&counter); });
    need_error("would wait for the rmi_monitor", [&] { static_cast<void>(sync_rmi(me, &counter, &Counter::get)); });
  }
  rmi_fence();
  need(counter.total == nodes, "the requests are executed afterwards");
}

// Whether a thread of the library runs the methods.
bool beside = false;

struct Computing {
  std::atomic<int> asked = 0;
  std::atomic<bool> over = false;
  bool ask() {
    ++asked;
    return over;
  }
};

// Node 1 computes, without a call of RMI, while node 0 asks it.
void computing() {
  Computing task;
  const rmi_object<Computing> handle(task);
  const int nodes = get_num_nodes(), me = get_node_id();
  if (nodes > 1 && me == 0) {
    while (!sync_rmi(1, &task, &Computing::ask)) {
    }
  }
  if (me == 1 && beside) {
    const int before = task.asked;
    while (task.asked < before + 3) {
    }
  }
  if (me == 1 && !beside) {
    for (int round = 0; round < 10; ++round) {
      const int before = task.asked;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
      while (std::chrono::steady_clock::now() < end) need(task.asked == before, "a node that computes answers nobody");
      rmi_poll();
    }
  }
  task.over = true;
  rmi_fence();
}

// A method that runs longer than the launcher waits before it searches for deadlocks; all programs wait meanwhile.
void slow() {
  Counter counter;
  const rmi_object<Counter> handle(counter);
  const int last = get_num_nodes() - 1;
  const auto method = [](Counter& of) {
    std::this_thread::sleep_for(std::chrono::seconds(4));
    return of.total;
  };
  if (get_node_id() == 0) need(sync_rmi(last, &counter, method) == 0, "the answer");
  rmi_fence();
}

// A child of fork() has no part in the job, nor a communication thread.
void forked() {
  rmi_fence();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) std::exit(7);
  int status = 0;
  need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child's exit status");
  rmi_fence();
}

// Calls that the program keeps. After the error it ends them, and calls stop() again.
void held_handles() {
  {
    Counter counter;
    const rmi_object<Counter> handle(counter);
    const int me = get_node_id(), next = (me + 1) % get_num_nodes();
    std::vector<rmi::rmi_handle<int>> results;
    for (int i = 0; me == 0 && i < 3; ++i) results.push_back(rmi::sync_rmi_nonblocking(next, &counter, &Counter::get));
    if (me == 0) {
      need(results.front().wait() == 0, "a result that is not held");
      need_error("rmi::stop: 2 calls of sync_rmi_nonblocking", [] { rmi::stop(); });
      need(results.back().wait() == 0, "a result that was held");
      need_error("rmi::stop: 1 call of sync_rmi_nonblocking", [] { rmi::stop(); });
    }
    results.clear();
    rmi::stop();
  }
  rmi::start();
}

// A request to an object that its node has removed.
void removed() {
  Counter stays;
  auto brief = std::make_unique<Counter>();
  const rmi_object<Counter> handle(stays);
  auto removed = std::make_unique<rmi_object<Counter>>(*brief);
  const int nodes = get_num_nodes(), me = get_node_id(), last = nodes - 1;
  if (me == last && nodes > 1) {
    removed.reset();
    async_rmi(0, &stays, &Counter::add, 1);
    rmi_poll();
  }
  if (me == 0 && nodes > 1) {
    while (sync_rmi(0, &stays, &Counter::get) == 0) rmi_poll();
    need_error("a (anonymous namespace)::Counter, was removed on this node",
               [&] { static_cast<void>(sync_rmi(last, brief.get(), rmi::method<&Counter::get>)); });
    need_error("Counter::add", [&] {
      try {
        static_cast<void>(sync_rmi(last, brief.get(), rmi::method<&Counter::add_and_get>, 1));
      } catch (const rmi::remote_error& error) {
        rmi::fail(error.what());
      }
    });
  }
  rmi_fence();
  need_error("not registered", [&] {
    removed.reset();
    async_rmi(0, brief.get(), &Counter::add, 1);
  });
}

// A method ends the registration of an object that the program has named before: the program must not name it any more.
struct Holder {
  std::unique_ptr<rmi_object<Counter>> handle;
  void end() { handle.reset(); }
};

void removed_by_method() {
  Holder holder;
  const rmi_object<Holder> held(holder);
  Counter counter;
  holder.handle = std::make_unique<rmi_object<Counter>>(counter);
  const int me = get_node_id();
  async_rmi(me, &counter, &Counter::add, 1);
  rmi_fence();
  sync_rmi(me, held, &Holder::end);
  need_error("not registered", [&] { async_rmi(me, &counter, &Counter::add, 1); });
  rmi_fence();
}

constexpr cases::Case kCases[] = {{"held", held},
                                  {"computing", computing},
                                  {"slow", slow},
                                  {"forked", forked},
                                  {"held_handles", held_handles},
                                  {"removed", removed},
                                  {"removed_by_method", removed_by_method}};

// A start() without a communication thread, because its stack would be larger than the address space, fails; the
// thread is then not a node, and can call start() again.
void start_without_memory() {
  pthread_attr_t usual, large;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, std::size_t{1} << 47);
  pthread_setattr_default_np(&large);
  rmi::set_scheduler(rmi::Scheduler::blocking_thread);
  bool threw = false;
  try {
    rmi::start();
  } catch (const rmi::error&) {
    threw = true;
  }
  pthread_setattr_default_np(&usual);
  bool is_node = true;
  try {
    static_cast<void>(get_node_id());
  } catch (const rmi::error&) {
    is_node = false;
  }
  if (!threw || is_node) std::_Exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const scheduler = std::getenv("MARGAY_RMI_SCHEDULER");
  beside = scheduler != nullptr && std::string_view(scheduler) != "polling";
  if (argc > 1 && std::string_view(argv[1]) == "--nonblocking") {
    rmi::set_scheduler(rmi::Scheduler::nonblocking_thread);
    beside = true;
    ++argv, --argc;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--without-memory") {
    start_without_memory();
    ++argv, --argc;
  }
  return rmi::run(argc, argv, [](int count, char** words) { return cases::run(count, words, kCases); });
}
