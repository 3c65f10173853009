#include "command/simulate/calibrated_machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/boot/job_rates.hpp"
#include "sim/boot/options.hpp"

namespace margay::command {
namespace {

using collectives::Rates;
using virtual_machine::Change;

// A start-up time as the work of the sender, the way, and the work of the receiver. Both work equally long.
struct Parts {
  long long work_ns;
  long long way_ns;
};

Parts parts_of(const Rates::Message& message) {
  const long long startup_ns = std::llround(message.startup * 1e9);
  const long long work_ns = std::min(std::llround(message.busy * 1e9), startup_ns / 2);
  return {work_ns, startup_ns - 2 * work_ns};
}

}  // namespace

std::vector<Change> fields_for(const Rates& rates) {
  const Parts inside = parts_of(rates.inside);
  const Parts between = parts_of(rates.between);
  const auto bandwidth = [](double byte) { return fmt::format("{:.0f}", std::clamp(1 / byte, 1e3, 1e15)); };
  constexpr long long kPollNs = 200;
  const long long poll_ns = std::min(kPollNs, between.work_ns);
  return {{"memory_overhead_ns", std::to_string(inside.work_ns)},
          {"memory_latency_ns", std::to_string(inside.way_ns)},
          {"memory_bytes_per_s", bandwidth(rates.inside.byte)},
          {"tcp.send_overhead_ns", std::to_string(between.work_ns)},
          {"tcp.poll_ns", std::to_string(poll_ns)},
          {"tcp.receive_overhead_ns", std::to_string(between.work_ns - poll_ns)},
          {"tcp.latency_ns", std::to_string(between.way_ns)},
          {"tcp.injection_bytes_per_s", bandwidth(rates.between.byte)},
          {"tcp.ejection_bytes_per_s", bandwidth(rates.between.byte)}};
}

portals::Status read_calibration(std::vector<Change>& out) {
  out.clear();
  sim::JobRates found;
  if (portals::Status status = sim::find_job_rates(sim::Options::from_environment(environ), found); !status.ok())
    return status;
  // Names of rates, such as "usual": they are for the choice of algorithms.
  Rates rates{};
  const std::string& text = found.measured.messages.empty() ? found.text : found.measured.messages;
  if (text.find('=') == std::string::npos) return {};
  if (portals::Status status = collectives::parse_rates(text, rates); !status.ok()) {
    return portals::Status::error((found.given ? "MARGAY_RATES: " : found.file + ": ") + status.sentence());
  }
  out = fields_for(rates);
  return {};
}

}  // namespace margay::command
