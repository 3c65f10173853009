#include "command/run/spawn_plan.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "command/run/options/option_rules.hpp"
#include "command/run/options/tokens.hpp"
#include "command/run/program/program.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::command {
namespace {

using portals::Status;

// The value of an info key, one of kSpawnInfoKeys; empty: it is not set. The last one counts.
std::string info_value(const SpawnCommand& command, std::string_view wanted) {
  MARGAY_ASSERT(std::ranges::find(sim::kSpawnInfoKeys, wanted) != sim::kSpawnInfoKeys.end());
  std::string value;
  for (const auto& [key, text] : command.info) {
    if (key == wanted) value = text;
  }
  return value;
}

Status check_folder(const std::string& folder) {
  struct stat info {};
  if (folder.empty()) return {};
  if (::stat(folder.c_str(), &info) != 0) {
    return Status::error("info key wdir: the working folder " + folder + ": " + std::strerror(errno));
  }
  return S_ISDIR(info.st_mode) ? Status() : Status::error("info key wdir: " + folder + " is not a folder");
}

Status check_machine(const std::string& wanted) {
  utsname machine{};
  if (wanted.empty() || ::uname(&machine) != 0 || wanted == machine.machine) return {};
  return Status::error("info key arch: \"" + wanted + "\" is another machine than this one, which is " +
                       machine.machine);
}

// Hosts are separated by commas, as in the launcher's option -host.
Status check_hosts(const std::string& hosts) {
  if (hosts.empty()) return {};
  for (const std::string& host : split(hosts, ',')) {
    if (Status status = check_host(host); !status.ok()) return Status::error("info key host: " + status.sentence());
  }
  return {};
}

// The initial error handler of the processes, by the variable of the launcher's option. MPI's values are not
// case-sensitive.
Status set_handler(std::string handler, Assignments& environment) {
  if (handler.empty()) return {};
  std::ranges::transform(handler, handler.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const OptionRule& rule = *find_option_rule("initial-errhandler");
  const std::vector<std::string> known = split(rule.choices, '|');
  if (std::ranges::find(known, handler) == known.end()) {
    return Status::error("info key mpi_initial_errhandler: invalid value \"" + handler + "\"; use " +
                         std::string(rule.choices));
  }
  environment.emplace_back(rule.variable, handler);
  return {};
}

Status find(const SpawnCommand& command, const char* search_path, SpawnPart& part) {
  const std::string folder = info_value(command, "wdir");
  if (Status status = check_folder(folder); !status.ok()) return status;
  if (Status status = check_machine(info_value(command, "arch")); !status.ok()) return status;
  if (Status status = check_hosts(info_value(command, "host")); !status.ok()) return status;
  const std::string handler = info_value(command, "mpi_initial_errhandler");
  if (Status status = set_handler(handler, part.program.environment); !status.ok()) return status;
  part.program.working_directory = folder;
  part.program.is_spawned = true;
  part.program.argv.push_back(command.program);
  part.program.argv.insert(part.program.argv.end(), command.arguments.begin(), command.arguments.end());
  const std::string path = info_value(command, "path");
  int exit_status = 0;
  if (path.empty()) return find_program(command.program, folder, search_path, part.path, exit_status);
  // The folders of the info key come first, also for a name that is in PATH.
  const std::string folders = path + (search_path != nullptr ? ":" + std::string(search_path) : "");
  return find_program(command.program, folder, folders.c_str(), part.path, exit_status);
}

// The numbers of processes that the command permits, as parse_soft() returns them.
Status find_allowed(const SpawnCommand& command, std::vector<bool>& allowed) {
  const std::string soft = info_value(command, "soft");
  if (!soft.empty()) return parse_soft(soft, command.processes, allowed);
  allowed.assign(std::size_t{command.processes} + 1, false);
  allowed.back() = true;
  return {};
}

Status lack_of_places(const SpawnCommand& command, std::uint32_t free) {
  const std::string soft = info_value(command, "soft");
  return Status::error(
      "the command " + command.program + " needs " + sim::counted(command.processes, "process", "processes") +
      (soft.empty() ? "" : " (info key soft=" + soft + ")") + ", and " + sim::counted(free, "place") + " of the job " +
      (free == 1 ? "is" : "are") + " free; start the job with more (margay run --places N)");
}

// The numbers of processes that the command permits, and the lowest of them.
struct Permitted {
  std::vector<bool> counts;
  std::uint32_t lowest = 0;
};

Status find_permitted(const SpawnCommand& command, Permitted& out) {
  if (Status status = find_allowed(command, out.counts); !status.ok()) return status;
  const auto lowest = std::ranges::find(out.counts, true);
  if (lowest == out.counts.end()) {
    return Status::error("info key soft=" + info_value(command, "soft") + " permits none of the numbers from 0 to " +
                         std::to_string(command.processes) + " of the command " + command.program);
  }
  out.lowest = static_cast<std::uint32_t>(lowest - out.counts.begin());
  return {};
}

}  // namespace

Status plan_spawn(const SpawnOrder& order, std::uint32_t free, const char* search_path, std::vector<SpawnPart>& parts,
                  bool& lacks_places) {
  std::vector<SpawnPart> planned;
  std::vector<Permitted> permitted;
  lacks_places = false;
  for (const SpawnCommand& command : order.commands) {
    SpawnPart& part = planned.emplace_back();
    if (Status status = find(command, search_path, part); !status.ok()) return status;
    if (Status status = find_permitted(command, permitted.emplace_back()); !status.ok()) return status;
    part.requested = command.processes;
  }
  std::uint32_t left = free;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    lacks_places = permitted[i].lowest > left;
    if (lacks_places) return lack_of_places(order.commands[i], left);
    left -= permitted[i].lowest;
  }
  // The places beyond the lowest numbers go to the first commands.
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const std::vector<bool>& counts = permitted[i].counts;
    std::uint32_t count = std::min(planned[i].requested, permitted[i].lowest + left);
    while (!counts[count]) --count;
    planned[i].program.ranks = count;
    left -= count - permitted[i].lowest;
  }
  parts = std::move(planned);
  return {};
}

}  // namespace margay::command
