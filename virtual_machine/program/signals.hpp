// A rank's signal handlers. They run when the rank itself raises the signal; signals from outside reach the process,
// not a rank.
#pragma once

#include <csignal>
#include <map>
#include <string>

namespace margay::virtual_machine {

// The actions of one rank.
class Signals {
 public:
  // sigaction() of one rank: sets the action if `action` is not null, and returns the previous one.
  struct sigaction exchange(int signal_number, const struct sigaction* action);
  // raise(): runs the rank's handler. False: the default action would end the process.
  [[nodiscard]] bool raise(int signal_number) const;

 private:
  // By signal; those that the rank never set have the default action.
  std::map<int, struct sigaction> actions_;
};

// "SIGSEGV (Segmentation fault)".
[[nodiscard]] std::string describe_signal(int signal_number);

}  // namespace margay::virtual_machine
