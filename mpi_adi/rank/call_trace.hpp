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

// Records in the trace the files that contain the addresses of calls: the program, and the libraries that it loads. A
// reader finds the source lines with them (command/call_sites).

class ModuleDefinitions {
 public:
  // Records the file that contains `address`, once for each file. No effect for an address in no file.
  void called_from(sim::Recorder& recorder, const void* address);

 private:
  // Searches for addresses in no file, which are those of code that was generated at run time. Each search is
  // expensive, so there is a limit.
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
  // The constructing thread, which calls MPI_Init, is number 0. Others are 1, 2, ... in the order of their first call.
  CallTrace();

  // Records that the calling thread enters a function. `name` lives as long as the program. `caller`: an address just
  // behind the call.
  void enter(sim::Recorder& recorder, std::string_view name, const void* caller);
  // Records that it leaves the function, with the error class that it returns.
  void leave(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, false);
  }
  // The same after a fatal error: the call does not return, and the process ends.
  void leave_by_fatal_error(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, true);
  }
  // Records wait_begin or wait_end of the call that the calling thread is in.
  void wait(sim::Recorder& recorder, sim::TraceKind kind);

 private:
  // A thread that has called MPI.
  struct Thread {
    std::thread::id id;
    std::uint64_t number = 0;
    std::vector<std::uint32_t> calls;  // indices of the calls that it is in, the innermost last
  };
  // Both public forms of leave(); `fatal` marks the event, because the call's function never returns.
  void leave(sim::Recorder& recorder, std::string_view name, int error_class, bool fatal);
  // One compare when the calling thread is the latest one; otherwise a look-up, which adds an unknown thread.
  [[nodiscard]] Thread& calling_thread();
  // The index of a name in the file's table; a new name is added to the table.
  [[nodiscard]] std::uint32_t index_of(sim::Recorder& recorder, std::string_view name);

  // By thread id. A thread that starts after another has ended may get its id, and then has its number too, so numbers
  // stay small.
  std::unordered_map<std::thread::id, Thread> threads_;
  Thread* latest_;                       // the thread that called last, usually the next one too; in threads_
  ModuleDefinitions modules_;            // files that the program's calls came from
  std::vector<std::string_view> names_;  // in the order of their first call; a program uses a few dozen
};

}  // namespace margay::mpi_adi
