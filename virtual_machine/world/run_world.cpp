// The entry into the world: reads the settings and the machine, and runs the program.
#include <unistd.h>

#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "sim/boot/options.hpp"
#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/faults.hpp"
#include "virtual_machine/model/presets.hpp"
#include "virtual_machine/model/run_report.hpp"
#include "virtual_machine/model/settings.hpp"
#include "virtual_machine/model/way_plan.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/world/world.hpp"

namespace margay::virtual_machine {

namespace {

constexpr int kStatusCannotStart = 71;  // EX_OSERR of <sysexits.h>

// The command has checked the settings already; the machine file may have changed since.
int fail(const Program& program, const Settings& settings, const portals::Status& status) {
  std::fprintf(stderr, "margay simulate: %s\n", status.sentence().c_str());
  RunReport report = begin_report(settings, {program.argv, program.argv + program.argc});
  report.exit_status = kStatusCannotStart;
  report.error = status.sentence();
  if (const portals::Status written = write_report(settings.report, report); !written.ok())
    std::fprintf(stderr, "margay simulate: %s\n", written.sentence().c_str());
  return kStatusCannotStart;
}

// The command has made the same changes before; they fail only if the machine's file has changed since.
portals::Status make_machine(Settings& settings, Machine& machine, WayPlan& plan, Faults& faults) {
  if (portals::Status status = find_machine(settings.machine, machine); !status.ok()) return status;
  for (const Change& change : settings.changes) {
    if (portals::Status status = apply_change(change, settings, machine); !status.ok()) return status;
  }
  if (portals::Status status = check_ranks(machine, settings.ranks); !status.ok()) return status;
  const std::string ways = sim::Options::from_environment(environ).text(kWayOption);
  if (portals::Status status = WayPlan::make(ways, machine, settings.ranks, plan); !status.ok()) return status;
  return parse_faults(settings, machine, faults);
}

}  // namespace

int run_world(const Program& program) {
  Settings settings;
  Machine machine;
  WayPlan plan;
  Faults faults;
  if (const portals::Status status = parse_settings(program.options, settings); !status.ok())
    return fail(program, settings, status);
  if (const portals::Status status = make_machine(settings, machine, plan, faults); !status.ok())
    return fail(program, settings, status);
  std::optional<Wildcards> wildcards;
  if (!settings.wildcards.empty() || !settings.wildcard_log.empty()) {
    if (const portals::Status status = Wildcards::open(settings, wildcards); !status.ok())
      return fail(program, settings, status);
  }
  // Never destroyed: its stacks still have the frames of fibers that have ended.
  World* world = nullptr;
  try {
    world = new World(settings, machine, plan, program, faults,
                      std::move(wildcards));  // NOLINT(cppcoreguidelines-owning-memory)
  } catch (const std::bad_alloc&) {
    return fail(program, settings,
                portals::Status::error("out of memory for " + std::to_string(settings.ranks) +
                                       " ranks: use fewer, or a smaller --stack"));
  }
  return world->run();
}

}  // namespace margay::virtual_machine
