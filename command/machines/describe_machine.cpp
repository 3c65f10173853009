#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/machines/machines.hpp"
#include "sim/base/text.hpp"
#include "virtual_machine/model/machine_fields.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace margay::command {
namespace {

namespace vm = virtual_machine;

constexpr std::uint32_t kUsualRanks = 1024;
// The message whose time gives the bandwidth: so long that overheads are negligible.
constexpr std::uint64_t kLongBytes = 1'000'000'000;

std::string time_text(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.4g} µs", static_cast<double>(ns) / 1e3);
  return fmt::format("{:.4g} ms", static_cast<double>(ns) / 1e6);
}

std::string bandwidth_text(double bytes_per_s) {
  if (std::isinf(bytes_per_s)) return "unlimited";
  if (bytes_per_s < 1e9) return fmt::format("{:.4g} MB/s", bytes_per_s / 1e6);
  return fmt::format("{:.4g} GB/s", bytes_per_s / 1e9);
}

std::string yes_no(bool is_so) {
  return is_so ? "yes" : "no";
}

std::string nodes_text(const vm::Machine& machine) {
  return machine.nodes == 0 ? "any" : fmt::format("{}", machine.nodes);
}

// The nearest and the farthest of the ranks to which rank 0 sends over a transport.
struct Pair {
  std::uint32_t near;
  std::uint32_t far;
};

std::optional<Pair> pair_over(const vm::NetworkModel& model, std::uint32_t network) {
  std::optional<Pair> found;
  for (std::uint32_t to = 1; to < model.ranks(); ++to) {
    if (model.network_between(0, to) != network) continue;
    if (!found) found = Pair{to, to};
    if (model.hops(0, to) < model.hops(0, found->near)) found->near = to;
    if (model.hops(0, to) > model.hops(0, found->far)) found->far = to;
  }
  return found;
}

// From the difference to an empty message, so without overheads and latencies.
double bandwidth_of(const vm::NetworkModel& model, std::uint32_t to) {
  const std::uint64_t ns = model.idle_time_ns(0, to, kLongBytes) - model.idle_time_ns(0, to, 0);
  return ns == 0 ? vm::kUnlimited : static_cast<double>(kLongBytes) * 1e9 / static_cast<double>(ns);
}

std::string field_line(std::string_view name, const std::string& value) {
  return fmt::format("  {:<14} {}", name, value);
}

std::string topology_text(const vm::NetworkModel& model, std::uint32_t number) {
  const vm::Network& network = model.machine().networks[number];
  const vm::Fabric& fabric = model.fabric(number);
  std::string text(vm::name_of(network.topology));
  if (!fabric.shape().empty()) text += fmt::format(" of {}", fmt::join(fabric.shape(), " x "));
  if (network.topology == vm::Topology::hypercube) text += " of " + sim::counted(fabric.dimensions(), "dimension");
  if (network.topology == vm::Topology::fat_tree) {
    text += fmt::format(" of arity {} and {}", network.arity, sim::counted(fabric.dimensions(), "level"));
  }
  if (network.nodes_per_switch > 1) text += fmt::format(", {} nodes on each switch", network.nodes_per_switch);
  return text;
}

void describe_network(const vm::NetworkModel& model, std::uint32_t number, std::vector<std::string>& lines) {
  const vm::Network& network = model.machine().networks[number];
  lines.push_back(fmt::format("network {}: {}{}", network.name, topology_text(model, number),
                              network.applies == vm::Reach::partition ? ", inside a partition only" : ""));
  lines.push_back(field_line(
      "bandwidth",
      fmt::format("links {}, a node's port {} out, {} in", bandwidth_text(network.link_bytes_per_s),
                  bandwidth_text(network.injection_bytes_per_s), bandwidth_text(network.ejection_bytes_per_s))));
  lines.push_back(field_line("latency", fmt::format("{}, and {} for each link between switches",
                                                    time_text(network.latency_ns), time_text(network.hop_ns))));
  lines.push_back(field_line(
      "processor", fmt::format("{} to send, {} to receive, {} for each poll", time_text(network.send_overhead_ns),
                               time_text(network.receive_overhead_ns), time_text(network.poll_ns))));
  if (network.short_limit != 0) {
    lines.push_back(field_line("short messages", sim::counted(network.short_limit, "byte")));
  }
}

// One-way times between rank 0 and the nearest and the farthest rank over a transport.
void describe_times(const vm::NetworkModel& model, std::string_view name, std::uint32_t network,
                    std::vector<std::string>& lines) {
  const std::optional<Pair> pair = pair_over(model, network);
  if (!pair) return;
  constexpr std::array<std::uint64_t, 4> kBytes = {0, 1000, 100'000, 10'000'000};
  for (const std::uint32_t to : {pair->near, pair->far}) {
    std::string line = fmt::format("  {:<14} rank {:<6} {:>3} hops", name, to, model.hops(0, to));
    for (const std::uint64_t bytes : kBytes) {
      line += fmt::format(" {:>11}", time_text(model.idle_time_ns(0, to, bytes)));
    }
    lines.push_back(line + fmt::format(" {:>11}", bandwidth_text(bandwidth_of(model, to))));
    if (pair->near == pair->far) return;
  }
}

}  // namespace

std::uint32_t usual_ranks(const vm::Machine& machine) {
  // A fixed shape may have fewer places than its machine may have ranks.
  std::uint32_t ranks = kUsualRanks;
  while (ranks > 1 && !vm::check_ranks(machine, ranks).ok()) --ranks;
  return ranks;
}

std::vector<Transport> transports_of(const vm::Machine& machine) {
  std::vector<Transport> all;
  for (const vm::Network& network : machine.networks) {
    // A crossbar has no links.
    const double links = network.topology == vm::Topology::crossbar ? vm::kUnlimited : network.link_bytes_per_s;
    all.push_back({network.name, std::string(vm::name_of(network.topology)),
                   network.send_overhead_ns + network.latency_ns + network.poll_ns + network.receive_overhead_ns,
                   std::min({network.injection_bytes_per_s, links, network.ejection_bytes_per_s})});
  }
  if (machine.processors_per_node > 1) {
    all.push_back({"inside a node", "memory", 2 * machine.memory_overhead_ns + machine.memory_latency_ns,
                   machine.memory_bytes_per_s});
  }
  return all;
}

std::vector<std::string> list_machines(const std::vector<vm::Machine>& machines) {
  constexpr std::string_view kRow = "{:<16} {:>6} {:>10}  {:<10} {:>9} {:>10}  {}";
  std::vector<std::string> lines = {
      fmt::format(kRow, "machine", "nodes", "processors", "network", "latency", "bandwidth", "source")};
  for (const vm::Machine& machine : machines) {
    // A source is "name: figures", and only its name fits into a column.
    const std::string& source = machine.sources.front();
    bool is_first = true;
    for (const Transport& one : transports_of(machine)) {
      const std::string latency = time_text(one.latency_ns);
      const std::string bandwidth = bandwidth_text(one.bytes_per_s);
      lines.push_back(is_first ? fmt::format(kRow, machine.name, nodes_text(machine), machine.processors_per_node,
                                             one.kind, latency, bandwidth, source.substr(0, source.find(':')))
                               : fmt::format("{:36}{:<10} {:>9} {:>10}", "", one.kind, latency, bandwidth));
      is_first = false;
    }
  }
  lines.push_back("");
  lines.push_back(
      "latency: one way, of an empty message, without hops; processors: of each node; margay machines NAME describes "
      "one");
  return lines;
}

std::vector<std::string> describe_machine(const vm::Machine& machine, std::uint32_t ranks) {
  const vm::NetworkModel model(machine, ranks);
  std::vector<std::string> lines = {machine.name + ": " + machine.description};
  lines.push_back(field_line(
      "nodes", machine.nodes == 0 ? fmt::format("as many as the ranks need: {}", model.nodes()) : nodes_text(machine)));
  lines.push_back(field_line("processors", fmt::format("{} on each node, placement {}", machine.processors_per_node,
                                                       vm::name_of(machine.placement))));
  lines.push_back(field_line("coprocessor", yes_no(machine.coprocessor)));
  lines.push_back(
      field_line("computation", fmt::format("{:g} times the processor time of this machine", machine.cpu_scale)));
  lines.push_back(field_line(
      "memory", fmt::format("{}, latency {}, {} of either rank's processor", bandwidth_text(machine.memory_bytes_per_s),
                            time_text(machine.memory_latency_ns), time_text(machine.memory_overhead_ns))));
  if (machine.nodes_per_partition != 0) {
    lines.push_back(field_line("partitions", sim::counted(machine.nodes_per_partition, "node") + " in each"));
  }
  const auto networks = static_cast<std::uint32_t>(machine.networks.size());
  for (std::uint32_t i = 0; i < networks; ++i) describe_network(model, i, lines);

  if (ranks > 1) {
    lines.push_back(fmt::format("one-way times from rank 0 of {} ranks, on an idle network", ranks));
    lines.push_back(fmt::format("  {:<14} {:<20} {:>11} {:>11} {:>11} {:>11} {:>11}", "", "", "0 bytes", "1 kB",
                                "100 kB", "10 MB", "bandwidth"));
    describe_times(model, "memory", vm::kInMemory, lines);
    for (std::uint32_t i = 0; i < networks; ++i) describe_times(model, machine.networks[i].name, i, lines);
  }
  lines.push_back("sources");
  for (const std::string& source : machine.sources) lines.push_back("  " + source);
  return lines;
}

}  // namespace margay::command
