// The limit on file sizes of this process (RLIMIT_FSIZE, ulimit -f). Whoever makes a file larger asks first: beyond the
// limit the kernel answers with SIGXFSZ, which ends a process that does not ignore it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace margay::sim {

// In bytes; none: files may have any size.
[[nodiscard]] std::optional<std::uint64_t> file_size_limit();

// "the limit on file sizes (ulimit -f) is 1024 bytes", or nothing where there is no limit.
[[nodiscard]] std::string describe_file_size_limit();

}  // namespace margay::sim
