// The calls of a traced run: mpi_enter and mpi_leave events, the waits inside them, and the file's table of names. Each
// event names its thread, as threads of one rank are in calls at once (MPI_THREAD_MULTIPLE).
#pragma once

#include <cstdint>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// Tells the trace which files the addresses of calls lie in: the program, and what it loads. A reader finds the lines
// of the source with it (command/call_sites).

class ModuleDefinitions {
 public:
  // No effect when its module was told before; of an address in none, nothing is told.
  void called_from(sim::Recorder& recorder, const void* address);

 private:
  // Addresses in no file, of code that was made at run time: each costs a search.
  static constexpr int kMissesMax = 16;
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::vector<Range> told_;  // the latest first; a program calls from one or two
  int misses_ = 0;
};

// Requires of every function but the constructor: recorder.on(), and the process lock is held.
class CallTrace {
 public:
  // The thread that makes it is number 0: it calls MPI_Init. Others are 1, 2, ... in the order of their first call.
  CallTrace();

  // `name` lives as long as the program. `caller`: an address behind the call.
  void enter(sim::Recorder& recorder, std::string_view name, const void* caller);
  void leave(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, false);
  }
  // The error is fatal: the call does not return, the process ends.
  void leave_by_fatal_error(sim::Recorder& recorder, std::string_view name, int error_class) {
    leave(recorder, name, error_class, true);
  }
  // wait_begin or wait_end, of the call that the calling thread entered last and has not left.
  void wait(sim::Recorder& recorder, sim::TraceKind kind);

 private:
  struct Thread {
    std::thread::id id;
    std::uint64_t number = 0;
    std::vector<std::uint32_t> calls;  // entered and not left
  };
  void leave(sim::Recorder& recorder, std::string_view name, int error_class, bool fatal);
  [[nodiscard]] Thread& calling_thread();
  [[nodiscard]] std::uint32_t index_of(sim::Recorder& recorder, std::string_view name);

  // A thread that began after another had ended may have its id, and then has its number too: numbers stay small.
  std::unordered_map<std::thread::id, Thread> threads_;
  Thread* latest_;                       // who called last, for most the next as well; in threads_
  ModuleDefinitions modules_;            // that the program's calls came from
  std::vector<std::string_view> names_;  // in the order of their first call; a program uses a few dozen
};

}  // namespace margay::mpi_adi
