// A child process that executes an operation instruction by instruction, so that its parent sees the state of their
// shared memory after a death behind each instruction.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include <doctest/doctest.h>

namespace margay::sim::test {

// One child for many steps. `step()` is the operation each time; `done` is in memory that both share, and step() must
// not touch it.
class SingleStepped {
 public:
  template <typename Step>
  SingleStepped(std::atomic<std::uint32_t>& done, Step step) : done_(done) {
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
      for (;;) {
        ::raise(SIGSTOP);
        step();
        done_.store(1);
      }
    }
    works_ = stopped();
  }
  ~SingleStepped() {
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, &how_, 0) == child_ && !WIFSIGNALED(how_)) {
    }
  }
  SingleStepped(const SingleStepped&) = delete;
  SingleStepped& operator=(const SingleStepped&) = delete;

  // Returns false if the child cannot be traced here.
  [[nodiscard]] bool works() const { return works_; }
  // Runs the step once; `look()` after each instruction.
  template <typename Look>
  bool take(Look look) {
    done_.store(0);
    while (works_ && done_.load() == 0) {
      works_ = ::ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr) == 0 && stopped();
      look();
    }
    // Runs until the child waits for the next step.
    works_ = works_ && ::ptrace(PTRACE_CONT, child_, nullptr, nullptr) == 0 && stopped();
    return works_;
  }

 private:
  [[nodiscard]] bool stopped() { return ::waitpid(child_, &how_, 0) == child_ && WIFSTOPPED(how_); }

  std::atomic<std::uint32_t>& done_;
  pid_t child_ = -1;
  int how_ = 0;
  bool works_ = false;
};

}  // namespace margay::sim::test
