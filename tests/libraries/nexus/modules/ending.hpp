// The end of a function that ends its process: it runs in a child, whose standard error is read.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>

namespace margay::nexus::test {

struct Ending {
  // It ended by a signal, or by a status that is not 0.
  bool failed = false;
  std::string text;
};

template <typename Function>
Ending ending_of(Function function) {
  std::array<int, 2> ends{};
  Ending ending;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ending;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    // Not the handlers of the test program: these would report the signal as a failed case.
    for (const int one : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(one, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    function();
    _exit(0);
  }
  close(ends[1]);
  std::array<char, 4096> bytes{};
  ssize_t count = 0;
  while ((count = read(ends[0], bytes.data(), bytes.size())) > 0) {
    ending.text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ending.failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return ending;
}

}  // namespace margay::nexus::test
