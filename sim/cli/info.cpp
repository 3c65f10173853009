#include "sim/cli/info.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "sim/base/limits.hpp"
#include "sim/base/processors.hpp"
#include "sim/boot/probes.hpp"
#include "sim/launch/process/rank_environment.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {
namespace {

std::string line(std::string_view what, const std::string& chosen, const std::string& reason) {
  return fmt::format("  {:<18} {:<28} {}", what, chosen, reason);
}

std::string wait_line(unsigned ranks) {
  const ProcessorShare share = processor_share();
  const bool spins = !is_crowded(ranks);
  return line(
      "waiting", spins ? "spin, then sleep" : "yield, then sleep",
      fmt::format("{} rank{} on {} (--wait spin|yield decides otherwise)", ranks, ranks == 1 ? "" : "s", share.words));
}

std::string protocol_line(const std::string& sizes, std::string_view protocol, std::string_view method,
                          std::string_view reason) {
  return fmt::format("  {:<24} {:<22} {:<41} {}", sizes, protocol, method, reason);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{} MiB", bytes / kMiB);
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

bool is_crowded(unsigned ranks) {
  return are_crowded("auto", ranks, processor_share());
}

std::vector<std::string> describe_choices(unsigned ranks) {
  const ProbeResult memfd = probe_memfd();
  const ProbeResult uring = probe_io_uring();
  const ProbeResult readv = probe_process_vm_readv();
  const ProbeResult membarrier = probe_membarrier();
  const ProbeResult descriptors = probe_proc_descriptors();
  const std::string library = find_library_folder();
  std::vector<std::string> lines{"margay 0.1.0 on this machine"};
  lines.push_back(wait_line(ranks));
  lines.push_back(line("shared memory", memfd.works ? "memfd" : "file in /dev/shm", memfd.detail));
  lines.push_back(
      line("", bytes_text(shm_segment_bytes(ranks > kShmRanksMax ? kShmRanksMax : ranks)),
           fmt::format("addresses for {} ranks of a node; memory only for pages that messages touch", ranks)));
  lines.push_back(line("inside a node", "byte ring, both sides copy",
                       "up to 16 KiB; above, that or one copy from memory to memory, as each receiver measures"));
  lines.push_back(line("process_vm_readv", readv.works ? "available" : "not available", readv.detail));
  lines.push_back(line("between nodes", "tcp on epoll", "faster for short messages; --wire-tcp uring takes io_uring"));
  lines.push_back(line("io_uring", uring.works ? "available" : "not available", uring.detail));
  lines.push_back(
      line("coprocessor", membarrier.works ? "biased lock" : "plain lock", "membarrier: " + membarrier.detail));
  lines.push_back(
      line("foreign launchers", descriptors.works ? "share memory" : "tcp between all ranks", descriptors.detail));
  lines.push_back(line("library", library.empty() ? "not found" : "libmpi.so.12", library));
  lines.push_back(line("heap", bytes_text(kHeapBytes), "a rank's unexpected short messages (--heap)"));
  return lines;
}

std::vector<std::string> describe_protocols() {
  const std::string short_shm = "0 .. " + bytes_text(kShortLimitBytesShm);
  const std::string long_shm = "above " + bytes_text(kShortLimitBytesShm);
  const std::string short_tcp = "0 .. " + bytes_text(kShortLimitBytesTcp);
  const std::string long_tcp = "above " + bytes_text(kShortLimitBytesTcp);
  return {
      "inside a node (shared memory)",
      protocol_line(short_shm, "short", "cells of 64 bytes, then byte ring",
                    "buffered in the receiver's heap when unexpected"),
      protocol_line(long_shm, "long (puma)", "byte ring or memory to memory, as measured",
                    "straight into a posted receive; else header only, pulled when one is posted"),
      protocol_line(long_shm, "long (rendezvous)", "header, then pull", "only with --protocol long=rendezvous"),
      "between nodes (tcp)",
      protocol_line(short_tcp, "short", "one frame", "cheaper to buffer than to ask"),
      protocol_line(long_tcp, "long (puma)", "segments, stoppable",
                    "a header-only acknowledgment stops the body, which is pulled later"),
      "variants",
      protocol_line("any", "synchronous", "as above", "and an acknowledgment once matched"),
      protocol_line("any", "ready", "as above", "no catch-all takes it: dropped and counted without a posted receive"),
      protocol_line("any", "buffered", "as above, out of the user's buffer", "MPI_Bsend"),
      "short limits: --protocol short_limit=BYTES",
  };
}

}  // namespace margay::sim
