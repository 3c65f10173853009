// What the process may do with its own memory.
#pragma once

#include <cstddef>

namespace margay::sim {

// Whether each page of it can be read and written now, as /proc/self/maps says; no, where that cannot be read. Some 50
// us, more in processes with many mappings.
[[nodiscard]] bool is_writable_memory(const void* begin, std::size_t bytes);

}  // namespace margay::sim
