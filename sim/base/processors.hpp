// The processors that this process may use: their number (affinity mask, control group's quota), their hardware, and
// the one that a thread runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margay::sim {

struct ProcessorShare {
  double processors = 1;  // may be a fraction under a quota
  std::string words;      // "2 allowed processors", with the quota when it is what limits
};
[[nodiscard]] ProcessorShare processor_share();

// Whether processes that wait yield at once: because it was asked for ("yield", and not "spin"), or because `processes`
// of them outnumber the processors.
[[nodiscard]] bool are_crowded(std::string_view asked, std::uint32_t processes, const ProcessorShare& share);

// The calling thread and the operating system's scheduler: the seam that tests replace.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  // The processor that the thread runs on. No system call where the C library keeps its number (rseq).
  [[nodiscard]] virtual std::uint32_t processor() const;
  // Those that it may run on; empty: not known.
  [[nodiscard]] virtual std::vector<std::uint32_t> allowed() const;
  // Moves the thread to one of allowed(). Afterwards it may run where it might before, and the scheduler may move it.
  virtual void move_to(std::uint32_t processor) const;
};
[[nodiscard]] const Scheduler& real_scheduler();

// The piece of hardware that this process is confined to, as the kernel reports it under /sys/devices/system.

// The processors in this process's affinity mask, by their numbers; empty: the kernel does not say.
[[nodiscard]] std::vector<int> allowed_processors();

// Which instance of a type of resource all of `processors` belong to; nothing: to several of them, or the machine or
// this file knows no such type. Types have hwloc's names, in any case of letters: Package (Socket), Die, NUMANode
// (NUMA), L3Cache, L2Cache, L1Cache, Core, PU. An instance's number is that of its first processor, so it is unique in
// a machine and for its type. `root`: what stands for /sys/devices/system.
[[nodiscard]] std::optional<int> hardware_instance(std::string_view type, const std::vector<int>& processors,
                                                   const std::string& root = "/sys/devices/system");

}  // namespace margay::sim
