#include "command/info/info.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>

#include "command/run/process/rank_environment.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/processors.hpp"
#include "sim/boot/options.hpp"
#include "sim/boot/probes.hpp"
#include "sim/wire/shm/shm_body.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/tcp/tcp_backend.hpp"

namespace margay::command {
namespace {

std::string line(std::string_view what, const std::string& chosen, const std::string& reason) {
  return fmt::format("  {:<18} {:<28} {}", what, chosen, reason);
}

std::string wait_line(unsigned ranks) {
  const sim::ProcessorShare share = sim::processor_share();
  return line("waiting", is_crowded(ranks) ? "yield, then sleep" : "spin, then sleep",
              fmt::format("{} rank{} on {}; two ranks on one processor yield (--wait spin|yield decides otherwise)",
                          ranks, ranks == 1 ? "" : "s", share.text));
}

// The choice that the environment requests, as for the ranks of a run.
std::string tcp_line() {
  sim::TcpBackendChoice choice = sim::TcpBackendChoice::automatic;
  const std::string asked = sim::Options::from_environment(environ).text("wire_tcp", "auto");
  if (const portals::Status status = sim::parse_backend(asked, choice); !status.ok()) {
    return line("between nodes", "tcp", "MARGAY_WIRE_TCP: " + status.sentence());
  }
  const sim::TcpBackendTaken taken = sim::backend_for(choice);
  return line("between nodes", taken.uring ? "tcp on io_uring" : "tcp on epoll",
              fmt::format("{} (--wire-tcp uring|epoll decides otherwise)", taken.reason));
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{} MiB", bytes / kMiB);
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

bool is_crowded(unsigned ranks) {
  return sim::are_crowded("auto", ranks, sim::processor_share());
}

// All probes run now: the output describes this machine, not the build.
std::vector<std::string> describe_choices(unsigned ranks) {
  const sim::ProbeResult memfd = sim::probe_memfd();
  const sim::ProbeResult uring = sim::probe_io_uring();
  const sim::ProbeResult readv = sim::probe_process_vm_readv();
  const sim::ProbeResult membarrier = sim::probe_membarrier();
  // /proc/PID/fd is what ranks of a foreign launcher use to open the memory of their node.
  const sim::ProbeResult descriptors = sim::probe_proc_descriptors();
  const std::string library = find_library_folder();
  std::vector<std::string> lines{"margay 0.1.0 on this machine"};
  lines.push_back(wait_line(ranks));
  lines.push_back(line("shared memory", memfd.works ? "memfd" : "file in /dev/shm", memfd.detail));
  lines.push_back(
      line("", bytes_text(sim::shm_segment_bytes(ranks > sim::kShmRanksMax ? sim::kShmRanksMax : ranks)),
           fmt::format("addresses for {} ranks of a node; memory only for pages that messages touch", ranks)));
  lines.push_back(
      line("inside a node", "byte ring, both sides copy",
           fmt::format("from {} on this, or one copy from memory to memory: each receiver measures and chooses",
                       bytes_text(sim::kReadBodyMinBytes))));
  lines.push_back(line("process_vm_readv", readv.works ? "available" : "not available", readv.detail));
  lines.push_back(tcp_line());
  lines.push_back(line("io_uring", uring.works ? "available" : "not available", uring.detail));
  lines.push_back(
      line("coprocessor", membarrier.works ? "biased lock" : "plain lock", "membarrier: " + membarrier.detail));
  lines.push_back(
      line("foreign launchers", descriptors.works ? "share memory" : "tcp between all ranks", descriptors.detail));
  lines.push_back(line("library", library.empty() ? "not found" : "libmpi.so.12", library));
  lines.push_back(line("heap", bytes_text(sim::kHeapBytes), "a rank's unexpected short messages (--heap)"));
  return lines;
}

}  // namespace margay::command
