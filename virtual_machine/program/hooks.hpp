// The interface by which the replaced functions of libc reach the world that runs the ranks (simulated time, the end of
// a rank, errors). The world implements it and registers itself once, before the first rank runs.
#pragma once

#include <cstdint>
#include <string>

namespace margay::virtual_machine {

// The world, as the replaced functions see it.
// A shell's exit status of a process that died of a signal is this and the signal's number.
inline constexpr int kSignalStatus = 128;

class Hooks {
 public:
  virtual ~Hooks() = default;

  // Whether the caller is the program of a rank. False in the world, and in library code below a rank's call: there the
  // replaced functions call libc's.
  [[nodiscard]] virtual bool in_rank() = 0;

  // Ends the running rank's turn for this virtual time; 0: only lets other ranks run.
  virtual void sleep_ns(std::uint64_t duration_ns) = 0;
  // The running rank's virtual time.
  [[nodiscard]] virtual std::uint64_t now_ns() = 0;

  // Ends the running rank; its exit handlers have run and its output is written. Called on the rank's stack, perhaps
  // below a function that is noexcept, so the implementation switches away and does not throw.
  [[noreturn]] virtual void exit_rank(int status) = 0;
  // Ends the simulation: the library ends the process, inside a call of the running rank (MPI_Abort, a fatal error). Or
  // ends a child process that the library has forked.
  [[noreturn]] virtual void end_process(int status) = 0;
  // Ends the simulation with this error message (without a full stop and without the program's name) and this exit
  // status. May be called by the handler of a fatal signal, on the signal stack.
  [[noreturn]] virtual void fail(std::string message, int status) = 0;
};

// Registers the world. `hooks` outlives every rank. Without hooks every replaced function calls libc's.
void set_hooks(Hooks* hooks);
// Requires: set_hooks() was called.
[[nodiscard]] Hooks& hooks();
[[nodiscard]] bool has_hooks();

}  // namespace margay::virtual_machine
