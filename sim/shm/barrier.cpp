#include "sim/shm/barrier.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace margay::sim {
namespace {

// The operating system gets a null pointer for it.
constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

bool membarrier(int command) {
  return kMembarrierAllowed && ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool register_node_barrier() {
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}
bool register_process_barrier() {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
bool node_barrier() {
  return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
bool process_barrier() {
  return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void futex_wait(const std::uint32_t& word, std::uint32_t expected, std::uint64_t timeout_ns) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / kNsPerSecond);
  timeout.tv_nsec = static_cast<long>(timeout_ns % kNsPerSecond);
  // Spurious ends (EINTR, EAGAIN, timeout) are normal: every caller tests again.
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout_ns == kForever ? nullptr : &timeout, nullptr, 0);
}

void futex_wake_all(const std::uint32_t& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace margay::sim
