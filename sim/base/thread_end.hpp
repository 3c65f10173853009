// The seam to a thread's end.
#pragma once

namespace margay::sim {

class ThreadEnds {
 public:
  ThreadEnds() = default;
  ThreadEnds(const ThreadEnds&) = delete;
  ThreadEnds& operator=(const ThreadEnds&) = delete;
  virtual ~ThreadEnds() = default;
  // In the thread that ends, after its thread_local objects are gone.
  virtual void thread_ends() = 0;
};

// The calling thread's end will be told to `whom`, which outlives the thread: when its function returns, by
// pthread_exit() or by cancellation; not at exit(), where the whole process ends, and not in a forked child. A thread
// tells one; thread_ends() may ask again for it, when others that end with the thread may still make calls.
void tell_thread_end(ThreadEnds& whom);

}  // namespace margay::sim
