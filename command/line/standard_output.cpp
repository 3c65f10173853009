#include "command/line/standard_output.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace margay::command {

void take_standard_descriptors() {
  int descriptor = 0;
  // open() returns the lowest free number.
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

bool is_output_written(const char* command) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return true;
  // If only an earlier write failed, its errno is lost.
  const char* const why = flushed || errno == 0 ? "is its file system full?" : std::strerror(errno);
  std::fprintf(stderr, "margay%s%s: standard output could not be written: %s\n", *command == '\0' ? "" : " ", command,
               why);
  give_up_output();
  return false;
}

void give_up_output() {
  ::__fpurge(stdout);
  std::clearerr(stdout);
}

}  // namespace margay::command
