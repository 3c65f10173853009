#include "virtual_machine/program/signals.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace margay::virtual_machine {

struct sigaction Signals::exchange(int signal_number, const struct sigaction* action) {
  const auto known = actions_.find(signal_number);
  struct sigaction previous = {};
  if (known != actions_.end()) previous = known->second;
  if (action != nullptr) actions_[signal_number] = *action;
  return previous;
}

bool Signals::raise(int signal_number) const {
  // By default these have no effect; the others end a process, or stop it.
  constexpr std::array kIgnored = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH};
  const auto known = actions_.find(signal_number);
  const bool is_default = known == actions_.end() || known->second.sa_handler == SIG_DFL;
  if (is_default) return std::find(kIgnored.begin(), kIgnored.end(), signal_number) != kIgnored.end();
  const struct sigaction action = known->second;  // the handler may change it
  if (action.sa_handler == SIG_IGN) return true;
  if ((action.sa_flags & SA_SIGINFO) == 0) {
    action.sa_handler(signal_number);
    return true;
  }
  siginfo_t info = {};
  info.si_signo = signal_number;
  info.si_code = SI_TKILL;
  action.sa_sigaction(signal_number, &info, nullptr);
  return true;
}

std::string describe_signal(int signal_number) {
  const char* const name = ::sigabbrev_np(signal_number);
  const char* const meaning = ::sigdescr_np(signal_number);
  if (name == nullptr || meaning == nullptr) return "signal " + std::to_string(signal_number);
  return std::string("SIG") + name + " (" + meaning + ")";
}

}  // namespace margay::virtual_machine
