// The processors that this process may use: their number (affinity mask, control group's quota), their hardware, and
// the one that a thread runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margay::sim {

// This process's share of the machine's processors.
struct ProcessorShare {
  // A fraction is possible under a quota.
  double processors = 1;
  // "2 allowed processors", or the quota where that is the limit.
  std::string text;
};
// Reads affinity mask and control group. It reads some files, so call it only at startup.
[[nodiscard]] ProcessorShare processor_share();

// Whether waiting processes yield at once: `asked` is "yield", or `processes` outnumber the processors and `asked` is
// not "spin".
[[nodiscard]] bool are_crowded(std::string_view asked, std::uint32_t processes, const ProcessorShare& share);

// The calling thread's interface to the operating system's scheduler. Tests replace it.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  // The processor on which the thread runs. No system call where the C library keeps the processor's number (rseq).
  [[nodiscard]] virtual std::uint32_t processor() const;
  // The processors on which it may run; empty: unknown.
  [[nodiscard]] virtual std::vector<std::uint32_t> allowed() const;
  // Moves the thread to one of allowed(). Its affinity stays as before, so the scheduler may move it again.
  virtual void move_to(std::uint32_t processor) const;
};
// The operating system's scheduler. The object has no state.
[[nodiscard]] const Scheduler& real_scheduler();

// The part of the hardware to which this process is confined, according to /sys/devices/system.

// The processors in this process's affinity mask, by number; empty: unknown.
[[nodiscard]] std::vector<int> allowed_processors();

// The instance of a resource type to which all of `processors` belong; nothing when they belong to several instances,
// or when the machine or this function does not have the type. Types have hwloc's names, in upper or lower case:
// Package (Socket), Die, NUMANode (NUMA), L3Cache, L2Cache, L1Cache, Core, PU. An instance's number is that of its
// first processor, so it is unique in a machine and for its type. `root`: replaces /sys/devices/system.
[[nodiscard]] std::optional<int> hardware_instance(std::string_view type, const std::vector<int>& processors,
                                                   const std::string& root = "/sys/devices/system");

}  // namespace margay::sim
