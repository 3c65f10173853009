#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "command/info/info.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/boot/options.hpp"
#include "sim/kernel/poll_interval.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/shm/shm_wire.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::command {
namespace {

using portals::Status;

std::string polling_line(std::string_view wire, const std::string& value, const std::string& reason) {
  return fmt::format("  {:<18} {:<28} {}", wire, value, reason);
}

// Nanoseconds of a poll that finds nothing: the best of several batches, because other programs may run meanwhile.
double poll_ns(sim::Wire& wire) {
  constexpr int kBatches = 8, kPolls = 256;
  double best = 0;
  sim::Arrival arrival;
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::uint64_t begin = sim::monotonic_ns();
    for (int poll = 0; poll < kPolls; ++poll) {
      if (wire.needs_push()) static_cast<void>(wire.push());
      static_cast<void>(wire.poll(arrival));
    }
    const double each = static_cast<double>(sim::monotonic_ns() - begin) / kPolls;
    best = batch == 0 ? each : std::min(best, each);
  }
  return best;
}

// A wire of one rank without peers, which is enough for polls that find nothing.
Status measure_shm(double& ns) {
  sim::Mapping memory;
  if (Status status = sim::Mapping::anonymous(sim::shm_segment_bytes(2), memory); !status.ok()) return status;
  sim::TransmissionList finished;
  sim::ShmWire wire(memory.bytes(), 0, 2, {0, 1}, finished);
  if (!wire.status().ok()) return wire.status();
  ns = poll_ns(wire);
  return {};
}

Status measure_tcp(double& ns) {
  sim::TcpWire::Settings settings;
  settings.world = 2;
  settings.remote = {false, true};
  settings.bind_host = "127.0.0.1";
  const std::string asked = sim::Options::from_environment(environ).text("wire_tcp", "auto");
  if (Status status = sim::parse_backend(asked, settings.backend); !status.ok()) return status;
  sim::TransmissionList finished;
  sim::TcpWire wire(std::move(settings), finished, sim::real_clock());
  if (Status status = wire.open(); !status.ok()) return status;
  ns = poll_ns(wire);
  return {};
}

struct MeasuredWire {
  sim::WireId id;
  Status (*measure)(double& ns);
};
constexpr MeasuredWire kMeasuredWires[] = {{sim::WireId::shm, &measure_shm}, {sim::WireId::tcp, &measure_tcp}};

}  // namespace

std::vector<std::string> describe_polling() {
  std::vector<sim::NamedPollSetting> settings;
  const std::string list = sim::Options::from_environment(environ).text("skip_poll");
  const Status parsed = sim::parse_poll_settings(list, settings);
  std::vector<std::string> lines{"polling: a poll that finds nothing, measured now"};
  if (!parsed.ok()) lines.push_back(polling_line("", "MARGAY_SKIP_POLL", parsed.sentence()));
  bool is_first = true;
  for (const MeasuredWire& wire : kMeasuredWires) {
    double ns = 0;
    const std::string_view wire_name = name(wire.id);
    const Status measured = wire.measure(ns);
    const auto set = std::ranges::find(settings, wire_name, &sim::NamedPollSetting::wire);
    const std::string how =
        set != settings.end() ? "MARGAY_SKIP_POLL: " + sim::describe(set->setting)
        : is_first            ? "in each round"
                              : fmt::format("beside a faster wire at an adaptive interval, {} rounds to {} times this",
                                            sim::PollInterval::kLeast, sim::PollInterval::kMostShare);
    is_first = false;
    lines.push_back(polling_line(wire_name, measured.ok() ? fmt::format("{:.0f} ns", ns) : "not measured",
                                 measured.ok() ? how + " (--skip-poll decides otherwise)" : measured.sentence()));
  }
  return lines;
}

}  // namespace margay::command
