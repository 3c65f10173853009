#include "virtual_machine/world/machine_rates.hpp"

#include <algorithm>
#include <cmath>

namespace margay::virtual_machine {

namespace {

double rate(double seconds) {
  return std::clamp(seconds, collectives::kRateLeast, collectives::kRateMost);
}

double seconds(std::uint64_t ns) {
  return rate(static_cast<double>(ns) * 1e-9);
}

}  // namespace

collectives::Rates rates_of(const Machine& machine) {
  collectives::Rates rates = collectives::usual_rates();
  const Network& network = machine.networks.front();
  const std::uint64_t receive_ns = network.poll_ns + network.receive_overhead_ns;
  const double bytes_per_s =
      std::min({network.link_bytes_per_s, network.injection_bytes_per_s, network.ejection_bytes_per_s});
  rates.between = {.startup = seconds(network.send_overhead_ns + network.latency_ns + receive_ns),
                   .busy = seconds(std::max(network.send_overhead_ns, receive_ns)),
                   .byte = rate(1 / bytes_per_s)};
  // A machine without a second processor on a node has no messages inside one.
  rates.inside = rates.between;
  if (machine.processors_per_node > 1) {
    rates.inside = {.startup = seconds(2 * machine.memory_overhead_ns + machine.memory_latency_ns),
                    .busy = seconds(machine.memory_overhead_ns),
                    .byte = rate(1 / machine.memory_bytes_per_s)};
  }
  rates.combined = rate(rates.combined * machine.cpu_scale);
  return rates;
}

}  // namespace margay::virtual_machine
