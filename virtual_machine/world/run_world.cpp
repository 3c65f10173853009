// The entry into the world: reads the settings and the machine, and runs the program.
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "virtual_machine/model/presets.hpp"
#include "virtual_machine/model/settings.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/world/world.hpp"

namespace margay::virtual_machine {

namespace {

constexpr int kStatusCannotStart = 71;  // EX_OSERR of <sysexits.h>

// The command has checked the settings already; the machine file may have changed since.
int fail(const portals::Status& status) {
  std::fprintf(stderr, "margay simulate: %s\n", status.sentence().c_str());
  return kStatusCannotStart;
}

}  // namespace

int run_world(const Program& program) {
  Settings settings;
  Machine machine;
  if (const portals::Status status = parse_settings(program.options, settings); !status.ok()) return fail(status);
  if (const portals::Status status = find_machine(settings.machine, machine); !status.ok()) return fail(status);
  if (const portals::Status status = check_ranks(machine, settings.ranks); !status.ok()) return fail(status);
  std::optional<Wildcards> wildcards;
  if (!settings.wildcards.empty() || !settings.wildcard_log.empty()) {
    if (const portals::Status status = Wildcards::open(settings, wildcards); !status.ok()) return fail(status);
  }
  // Never destroyed: its stacks still have the frames of fibers that have ended.
  World* world = nullptr;
  try {
    world = new World(settings, machine, program, std::move(wildcards));  // NOLINT(cppcoreguidelines-owning-memory)
  } catch (const std::bad_alloc&) {
    return fail(portals::Status::error("out of memory for " + std::to_string(settings.ranks) +
                                       " ranks: use fewer, or a smaller --stack"));
  }
  return world->run();
}

}  // namespace margay::virtual_machine
