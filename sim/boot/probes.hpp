// What this machine allows, found out by trying it: never by version numbers. Each probe costs less than a millisecond
// or two, leaves nothing behind, and says why when the answer is no.
#pragma once

#include <string>

namespace margay::sim {

struct ProbeResult {
  bool works = false;
  std::string detail;  // what was tried and what came back, for a reader
};

[[nodiscard]] ProbeResult probe_memfd();
// The trial of --wire-tcp uring.
[[nodiscard]] ProbeResult probe_io_uring();
// process_vm_readv of one byte, from a child and back: both directions must work.
[[nodiscard]] ProbeResult probe_process_vm_readv();
// membarrier with the private expedited command: what lets an idle thread pay for the busy one's missing fence.
[[nodiscard]] ProbeResult probe_membarrier();
// A descriptor of another process opened through /proc: how ranks of a foreign launcher share memory.
[[nodiscard]] ProbeResult probe_proc_descriptors();

}  // namespace margay::sim
