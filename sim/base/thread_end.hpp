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

// Registers `whom` for the end of the calling thread: the return of its function, pthread_exit() or cancellation.
// exit(), which ends the whole process, does not notify, and neither does a forked child. A thread notifies one object,
// the last that it registered. thread_ends() may register its object again, if other objects that end with the thread
// may still make calls. Requires: `whom` outlives the thread.
void notify_thread_end(ThreadEnds& whom);

}  // namespace margay::sim
