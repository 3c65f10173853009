// The frame of a program that makes one run for each seed, PROGRAM FIRST_SEED LAST_SEED: each in a process of its own,
// because a failed run ends where it is, and several at once. Prints a line for each seed that failed,
// "seed 17: REASON".
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace margay::testing {

// Ends the process of a run that failed. Its seed's reason is all that the process has printed.
[[noreturn]] void end_run(const std::string& reason);

inline void need(bool holds, const char* what) {
  if (!holds) end_run(what);
}

// The main function: `run` makes the run of a seed, and returns the reason why it failed; empty: it did not. A run that
// is the only one may also print what it measured. `further`: an argument that the program takes besides, for its
// usage, as "TREE"; nullptr: none. Returns the exit status, 1 if a seed failed.
[[nodiscard]] int run_seeds(int argc, char** argv, const char* further,
                            const std::function<std::string(std::uint64_t seed)>& run);

}  // namespace margay::testing
