// A reader of the stacks of a running process (libdw).
#pragma once

#include <memory>
#include <vector>

#include "command/live/stacks/stack.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The reader of one process. It works in two steps, so that the caller needs to stop the process for some milliseconds
// only: walk() records addresses while the process is stopped; stacks() resolves names and lines of source after it
// continues. Not thread-safe.
class Unwinder {
 public:
  explicit Unwinder(int pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // The address of a frame; defined in the .cpp file.
  struct Address;

  // Reads the process's mappings. Error: the process does not exist, or access is refused.
  [[nodiscard]] portals::Status open();
  // Records the frames of thread `tid`, at most 256. Requires: open() succeeded; the calling thread has stopped thread
  // `tid` (HeldProcess).
  void walk(int tid);
  // The recorded stacks with names, one for each walk(), in that order. The process may run meanwhile.
  [[nodiscard]] std::vector<Stack> stacks();

 private:
  // Hides libdw's types from callers.
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::command
