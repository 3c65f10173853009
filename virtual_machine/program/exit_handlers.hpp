// The functions that a rank has registered for its exit: atexit, on_exit, destructors of static and of thread-local
// objects. libc's lists would mix those of all ranks and run them at the end of the process.
#pragma once

#include <vector>

namespace margay::virtual_machine {

// The handlers of one rank.
class ExitHandlers {
 public:
  // An exit handler with C++'s signature (__cxa_atexit), and one of on_exit, which also takes the exit status.
  void add(void (*function)(void*), void* argument) { handlers_.push_back({function, nullptr, argument}); }
  void add(void (*function)(int, void*), void* argument) { handlers_.push_back({nullptr, function, argument}); }
  // The destructor of a thread-local object; these run before all handlers.
  void add_thread_local(void (*destructor)(void*), void* object) {
    thread_local_.push_back({destructor, nullptr, object});
  }

  // Runs all, the last one first, including those that a running one adds. Each runs once, even if a handler calls
  // exit.
  void run(int status);

 private:
  // Either `plain` or `with_status` is set.
  struct Handler {
    void (*plain)(void*);
    void (*with_status)(int, void*);
    void* argument;
  };

  // Removes the last handler, then calls it.
  static void run_last(std::vector<Handler>& handlers, int status);

  std::vector<Handler> handlers_;
  std::vector<Handler> thread_local_;
};

}  // namespace margay::virtual_machine
