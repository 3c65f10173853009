#include "sim/base/file_size_limit.hpp"

#include <sys/resource.h>

namespace margay::sim {

std::optional<std::uint64_t> file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string describe_file_size_limit() {
  const std::optional<std::uint64_t> limit = file_size_limit();
  return limit ? "the limit on file sizes (ulimit -f) is " + std::to_string(*limit) + " bytes" : std::string();
}

}  // namespace margay::sim
