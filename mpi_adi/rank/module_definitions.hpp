// Tells the trace which files the addresses of calls lie in: the program, and what it loads. A reader finds the lines
// of the source with it (command/call_sites).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

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

}  // namespace margay::mpi_adi
