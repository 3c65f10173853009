// Probes: tests of the facilities that this machine permits, by using them and never by version numbers. Each probe
// takes a millisecond or two, leaves nothing behind, and explains a negative result.
#pragma once

#include <string>

namespace margay::sim {

// The result of one probe.
struct ProbeResult {
  bool works = false;
  // The attempt and its result, for people.
  std::string detail;
};

// A memfd that can be sized; sealing is optional.
[[nodiscard]] ProbeResult probe_memfd();
// The test that --wire-tcp uring makes, too.
[[nodiscard]] ProbeResult probe_io_uring();
// process_vm_readv of one byte, from a child and back: both directions must work.
[[nodiscard]] ProbeResult probe_process_vm_readv();
// membarrier with the private expedited command, by which an idle thread pays for the busy one's missing fence.
[[nodiscard]] ProbeResult probe_membarrier();
// Opening a descriptor of another process through /proc, by which ranks of another launcher share memory.
[[nodiscard]] ProbeResult probe_proc_descriptors();

}  // namespace margay::sim
