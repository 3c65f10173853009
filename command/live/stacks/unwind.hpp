// The stacks of a process that runs (libdw).
#pragma once

#include <memory>
#include <vector>

#include "command/live/stacks/stack.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The process stands still only while its frames are walked, some milliseconds; names and lines of source are looked up
// when it goes on.
class Unwinder {
 public:
  explicit Unwinder(int pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  struct Address;  // of a frame

  // Reads which files are mapped where. Error: there is no such process, or it is not to be read.
  [[nodiscard]] portals::Status open();
  // Walks the frames of a thread. Requires: open() went well; the thread is held by the calling one.
  void walk(int tid);
  // The stacks walked, in their order, with names. The process may go on.
  [[nodiscard]] std::vector<Stack> stacks();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::command
