// The calls of a traced run: mpi_enter and mpi_leave events, the waits inside them, and the file's table of function
// names. Each event carries its thread's number, because threads of one rank may be in calls at once
// (MPI_THREAD_MULTIPLE).
#pragma once

#include <cstdint>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// The recorder of the files that contain the addresses of calls: the program, and the libraries that it loads. With
// these definitions in the trace, a reader finds the source lines (command/call_sites).
class ModuleDefinitions {
 public:
  // Records the file that contains `address`, once for each file. No effect for an address in no file.
  void called_from(sim::Recorder& recorder, const void* address);

 private:
  // The most searches for addresses that are in no file, such as addresses of code generated at run time. Each search
  // is expensive, so there is a limit.
  static constexpr int kMissesMax = 16;
  // The addresses of a file that was recorded; `end` is the first one behind its mapping.
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::vector<Range> defined_;  // the latest first; a program calls from one or two files
  int misses_ = 0;              // searches that found no file
};

// The recorder of one rank's calls. Requires for every function but the constructor: recorder.on(), and the process
// lock is held.
class CallTrace {
 public:
  // The constructing thread, which calls MPI_Init, is number 0. Other threads get the numbers 1, 2, ... in the order of
  // their first calls.
  CallTrace();

  // Records that the calling thread enters a function. `name` lives as long as the program. `caller`: the call's return
  // address.
  void enter(sim::Recorder& recorder, std::string_view name, const void* caller);
  // Records that the calling thread leaves the function, with the error class that the function returns.
  void leave(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, false);
  }
  // The same after a fatal error: the call does not return, and the process ends.
  void leave_by_fatal_error(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, true);
  }
  // Records wait_begin or wait_end, for the call in which the calling thread is.
  void wait(sim::Recorder& recorder, sim::TraceKind kind);

 private:
  // A thread that has called MPI.
  struct Thread {
    std::thread::id id;
    std::uint64_t number = 0;
    std::vector<std::uint32_t> calls;  // indices of the names of its calls in progress, the innermost last
  };
  // The common part of leave() and leave_by_fatal_error(). `fatal` marks the event, because the call never returns
  // then.
  void leave(sim::Recorder& recorder, std::string_view name, int error_class, bool fatal);
  // The entry of the calling thread. Costs one comparison if the thread made the latest call; otherwise a look-up,
  // which adds an unknown thread.
  [[nodiscard]] Thread& calling_thread();
  // The index of a name in the file's table; a new name is added to the table.
  [[nodiscard]] std::uint32_t index_of(sim::Recorder& recorder, std::string_view name);

  // By thread id. A thread that starts after another thread has ended may get the same id, and then has the same
  // number, so numbers stay small.
  std::unordered_map<std::thread::id, Thread> threads_;
  Thread* latest_;                       // the thread that called last, usually the next one too; in threads_
  ModuleDefinitions modules_;            // files that contain calls of the program
  std::vector<std::string_view> names_;  // in the order of their first call; a program uses a few dozen
};

}  // namespace margay::mpi_adi
