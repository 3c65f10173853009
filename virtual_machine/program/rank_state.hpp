// A rank of the program in a process that all ranks share: its data, and what libc keeps for a process (errno,
// environment, exit handlers, random numbers, output). The world makes one for each rank, enters it before the rank's
// fiber runs, leaves it afterwards, and calls run() on the fiber.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "virtual_machine/program/environment.hpp"
#include "virtual_machine/program/exit_handlers.hpp"
#include "virtual_machine/program/image.hpp"
#include "virtual_machine/program/output.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/program/random.hpp"
#include "virtual_machine/program/signals.hpp"
#include "virtual_machine/program/text_state.hpp"

namespace margay::virtual_machine {

class RankState {
 public:
  explicit RankState(std::uint32_t rank);
  RankState(const RankState&) = delete;
  RankState& operator=(const RankState&) = delete;
  // The rank's memory from malloc that it has not freed stays allocated. Requires: the rank is not entered.
  ~RankState();

  // Makes the rank's data and state visible. leave() writes its whole lines of output. The rank's data stays visible
  // until another rank is entered, so a rank that continues costs little. Requires: set_hooks(), and the one thread
  // that runs ranks.
  void enter();
  void leave();

  // Runs the program: constructors of its libraries and its own, main with a copy of the arguments, exit(). An
  // exception that leaves main ends the simulation as SIGABRT of the rank. Requires: the rank is entered, and this is
  // its stack.
  [[noreturn]] void run(const Program& program) noexcept;

  // Ends the rank. exit() first runs its exit handlers and destructors; exit_at_once() does not.
  [[noreturn]] void exit(int status);
  [[noreturn]] void exit_at_once(int status);

  // Ends the simulation: "rank N ERROR", after the rank's output, and this exit status.
  [[noreturn]] void fail(const std::string& error, int status = EXIT_FAILURE);
  // The same for a fatal signal: "rank N died of SIGSEGV" and `detail`. The status is a shell's, 128 and the signal.
  [[noreturn]] void die_of(int signal_number, const char* detail = "");

  // The rank between enter() and leave(), or null.
  [[nodiscard]] static RankState* entered();
  // The rank whose program has called a replaced function, or null (Hooks::in_rank).
  [[nodiscard]] static RankState* calling();

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] RankOutput& output() { return output_; }
  [[nodiscard]] Environment& environment() { return environment_; }
  [[nodiscard]] ExitHandlers& exit_handlers() { return exit_handlers_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] TextState& text() { return text_; }
  [[nodiscard]] Signals& signals() { return signals_; }

 private:
  void copy_arguments(const Program& program);

  std::uint32_t number_;
  int error_number_ = 0;
  bool are_destructors_run_ = false;
  std::vector<char*> arguments_;
  std::vector<char> argument_text_;
  Image image_;
  RankOutput output_;
  Environment environment_;
  ExitHandlers exit_handlers_;
  Random random_;
  TextState text_;
  Signals signals_;
};

}  // namespace margay::virtual_machine
