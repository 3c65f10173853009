// Notification at a thread's end.
#pragma once

namespace margay::sim {

// The object that is notified.
class ThreadEnds {
 public:
  ThreadEnds() = default;
  ThreadEnds(const ThreadEnds&) = delete;
  ThreadEnds& operator=(const ThreadEnds&) = delete;
  virtual ~ThreadEnds() = default;
  // Called in the ending thread, after its thread_local objects are destroyed.
  virtual void thread_ends() = 0;
};

// Registers `whom`, which outlives the thread, for the end of the calling thread: when its function returns, by
// pthread_exit() or by cancellation; not at exit(), where the whole process ends, and not in a forked child. A thread
// notifies one object; thread_ends() may register it again, when other objects that end with the thread may still make
// calls.
void notify_thread_end(ThreadEnds& whom);

}  // namespace margay::sim
