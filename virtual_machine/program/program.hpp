// The program that `margay simulate` runs, and the function that runs it: instead of its main() the process runs the
// world, and the world runs the program once for each rank (RankState::run).
#pragma once

namespace margay::virtual_machine {

// The program as the process was started with it.
struct Program {
  int (*main)(int, char**, char**) = nullptr;
  int argc = 0;
  // The process's arguments, null-terminated. RankState::run gives each rank a copy, because programs permute and
  // change them.
  char** argv = nullptr;
  // The value of MARGAY_SIMULATE, by which `margay simulate` passes its options. The variable itself is removed from
  // the environment, so that processes which the library starts do not simulate.
  const char* options = nullptr;
};

// Runs all ranks and returns the exit status of the process. Defined by the world (virtual_machine/world). Called after
// the constructors of system libraries, before any of the program and its own libraries.
[[nodiscard]] int run_world(const Program& program);

}  // namespace margay::virtual_machine
