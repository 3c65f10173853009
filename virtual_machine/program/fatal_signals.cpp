#include "virtual_machine/program/fatal_signals.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <string>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"
#include "virtual_machine/program/signals.hpp"

namespace margay::virtual_machine {
namespace {

constexpr std::array kFatalSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
// The handler composes a message and calls the world.
constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

constinit std::array<char, kStackBytes> signal_stack = {};
constinit Real<int(int, const struct sigaction*, struct sigaction*)> real_sigaction("sigaction");

// Not safe after a crash inside malloc or stdio; a second crash then ends the process, with the signal's usual message.
void report(int signal_number) {
  RankState* const rank = RankState::entered();
  if (rank == nullptr || !has_hooks()) {
    std::raise(signal_number);  // the handler is reset (SA_RESETHAND)
    return;
  }
  rank->die_of(signal_number);
}

}  // namespace

void report_fatal_signals() {
  stack_t stack = {};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = report;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  for (const int number : kFatalSignals) real_sigaction(number, &action, nullptr);
}

}  // namespace margay::virtual_machine
