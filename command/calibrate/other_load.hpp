// How much of the processors others use while something is measured: then the figures are theirs as well.
#pragma once

#include <chrono>

namespace margay::command {

// Watches from its construction on. Counted: all that ran on the processors that this process may use (Linux's
// /proc/stat, what a virtual machine's host took among it), less what this process and its children, as far as they
// have ended, had of it.
class OtherLoad {
 public:
  OtherLoad();
  // 0: nobody else ran; 1: others had all processors all the time. 0 where the system does not say.
  [[nodiscard]] double share() const;

 private:
  double all_s_;
  double own_s_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace margay::command
