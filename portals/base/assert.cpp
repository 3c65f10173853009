#include "portals/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace margay::portals {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr,
               "margay: %s:%d: '%s' does not hold; this is a defect of margay or of its caller, please report it\n",
               file, line, expression);
  // abort() flushes no stream, and a program may have given stderr a buffer.
  std::fflush(stderr);
  std::abort();
}

void misused(const char* sentence) {
  std::fprintf(stderr, "margay: invalid use of portals by the program: %s\n", sentence);
  std::fflush(stderr);
  std::abort();
}

}  // namespace margay::portals
