#include "sim/base/thread_end.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

using margay::sim::notify_thread_end;

namespace {

struct Counter final : margay::sim::ThreadEnds {
  int ends = 0;
  int asked_again = 0;
  std::thread::id thread;
  void thread_ends() override {
    ++ends;
    thread = std::this_thread::get_id();
    if (asked_again-- > 0) notify_thread_end(*this);
  }
};

void* leave(void* counter) {
  notify_thread_end(*static_cast<Counter*>(counter));
  pthread_exit(nullptr);
}

}  // namespace

TEST_CASE("a thread's end is notified once, in the thread, however it ends") {
  Counter returns;
  std::thread::id reported;
  std::thread thread([&] {
    reported = std::this_thread::get_id();
    notify_thread_end(returns);
    notify_thread_end(returns);
    CHECK_EQ(returns.ends, 0);
  });
  thread.join();
  CHECK_EQ(returns.ends, 1);
  CHECK(returns.thread == reported);

  Counter exits;
  pthread_t made{};
  REQUIRE_EQ(pthread_create(&made, nullptr, &leave, &exits), 0);
  pthread_join(made, nullptr);
  CHECK_EQ(exits.ends, 1);

  Counter again;
  again.asked_again = 1;
  std::thread([&] { notify_thread_end(again); }).join();
  CHECK_EQ(again.ends, 2);
}

TEST_CASE("a thread's end is not notified in a forked child") {
  static Counter counter;
  pid_t child = -1;
  std::thread([&] {
    notify_thread_end(counter);
    child = fork();
    if (child == 0) {
      // The child's only thread ends here, and the process with it. Its status is the number of notified ends.
      static pthread_key_t last;
      pthread_key_create(&last, [](void*) { _exit(counter.ends); });
      pthread_setspecific(last, &counter);
      pthread_exit(nullptr);
    }
  }).join();
  int status = -1;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  CHECK_EQ(counter.ends, 1);
}
