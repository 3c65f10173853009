// The call that the program has made. A library on Zipcode's own functions, such as NX (emulation/), makes several
// calls of Zipcode in one call of the program: board, trace, waits and errors have the outermost one only.
#pragma once

#include <utility>

#include "margay/host.hpp"

namespace margay::zipcode::core {

// A call of the program that calls Zipcode's functions.
struct ProgramCall {
  // A literal; nullptr: calls of Zipcode are the program's own.
  const char* name = nullptr;
  // An address in the program.
  const void* caller = nullptr;
  // The rank that the thread has entered in this call's name; nullptr: each call of Zipcode enters it.
  host::Rank* rank = nullptr;
};
// Of the calling thread. Cleared while a function of the program runs in a call.
inline constinit thread_local ProgramCall program_call;

// The name that reports have for a call of Zipcode.
[[nodiscard]] inline const char* shown_name(const char* call) {
  return program_call.name != nullptr ? program_call.name : call;
}
[[nodiscard]] inline const void* shown_caller(const void* caller) {
  return program_call.name != nullptr ? program_call.caller : caller;
}

// Runs a function of the program, whose calls of Zipcode are its own, outside of the rank. Requires: inside.
template <typename Function>
void run_outside(host::Rank& rank, Function function) {
  host::run_program(rank, [&] {
    const ProgramCall saved = std::exchange(program_call, {});
    function();
    program_call = saved;
  });
}
// The same, inside or outside.
template <typename Function>
void run_for_program(Function function) {
  if (program_call.rank != nullptr) return run_outside(*program_call.rank, function);
  const ProgramCall saved = std::exchange(program_call, {});
  function();
  program_call = saved;
}

}  // namespace margay::zipcode::core
