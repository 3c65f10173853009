#include "command/info/info.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "command/run/process/rank_environment.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/processors.hpp"
#include "sim/boot/options.hpp"
#include "sim/boot/probes.hpp"
#include "sim/machine/ways.hpp"
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

// The wire's place in the table of ways, by the order that the environment requests.
std::string place_of(sim::WireId wire, const std::vector<sim::WireId>& order) {
  if (!order.empty()) {
    const auto at = std::ranges::find(order, wire);
    return at == order.end() ? "not in MARGAY_WAY" : fmt::format("number {} of MARGAY_WAY", at - order.begin() + 1);
  }
  switch (sim::kind_of(wire).reach) {
    case sim::Reach::own_process:
      return "a rank to itself";
    case sim::Reach::own_node:
      return "inside a node";
    case sim::Reach::other_job:
      return "to processes of other jobs";
    case sim::Reach::any_node:
      break;
  }
  return "between nodes";
}

std::string forwarding_line() {
  const bool is_on = !sim::Options::from_environment(environ).text("forward").empty();
  return line("way forward", is_on ? "between nodes" : "off",
              "with --forward node: only the first rank of each node uses tcp, and forwards for the others");
}

// The table of ways: a row for each wire that ranks of a job can have.
void add_ways(std::vector<std::string>& lines) {
  std::vector<sim::WireId> order;
  const std::string asked = sim::Options::from_environment(environ).text("way");
  if (const portals::Status status = sim::parse_ways(asked, order); !status.ok()) {
    lines.push_back(line("way", "unknown", status.sentence()));
    return;
  }
  for (std::size_t at = 0; at < sim::kWireCount; ++at) {
    const auto wire = static_cast<sim::WireId>(at);
    const sim::WireKind& kind = sim::kind_of(wire);
    if (!kind.selectable) continue;
    lines.push_back(line(
        fmt::format("way {}", kind.name), place_of(wire, order),
        fmt::format("reaches {}; short messages up to {}; {} (--way LIST decides otherwise)",
                    kind.reach == sim::Reach::own_node ? "ranks of its node" : "every rank",
                    bytes_text(kind.short_limit), kind.slow_poll ? "a poll is a system call" : "a poll reads memory")));
  }
  lines.push_back(forwarding_line());
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
  add_ways(lines);
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
