#include "portals/base/require.hpp"

#include <cstdio>
#include <cstdlib>

namespace margay::portals {

void misused(const char* sentence) {
  std::fprintf(stderr, "margay: the program uses portals in a way that cannot be: %s\n", sentence);
  std::fflush(stderr);
  std::abort();
}

}  // namespace margay::portals
