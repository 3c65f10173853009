#include "command/run/spawn_plan.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "command/run/options/tokens.hpp"
#include "command/run/program/program.hpp"
#include "sim/base/text.hpp"

namespace margay::command {
namespace {

using portals::Status;

// The value of an info key; empty: it is not set. The last one counts.
std::string info_value(const SpawnCommand& command, std::string_view wanted) {
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

Status find(const SpawnCommand& command, const char* search_path, SpawnPart& part) {
  const std::string folder = info_value(command, "wdir");
  if (Status status = check_folder(folder); !status.ok()) return status;
  if (Status status = check_machine(info_value(command, "arch")); !status.ok()) return status;
  if (Status status = check_hosts(info_value(command, "host")); !status.ok()) return status;
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

// The number of processes to start: the highest that the command permits and that have places.
Status choose_count(const SpawnCommand& command, const std::vector<bool>& allowed, std::uint32_t free,
                    SpawnPart& part) {
  for (std::uint32_t count = std::min(command.processes, free) + 1; count-- > 0;) {
    if (!allowed[count]) continue;
    part.program.ranks = count;
    return {};
  }
  const std::string soft = info_value(command, "soft");
  return Status::error(
      "the command " + command.program + " needs " + sim::counted(command.processes, "process", "processes") +
      (soft.empty() ? "" : " (info key soft=" + soft + ")") + ", and " + sim::counted(free, "place") + " of the job " +
      (free == 1 ? "is" : "are") + " free; start the job with more (margay run --places N)");
}

}  // namespace

Status plan_spawn(const SpawnOrder& order, std::uint32_t free, const char* search_path, std::vector<SpawnPart>& parts,
                  bool& lacks_places) {
  std::vector<SpawnPart> planned;
  std::uint32_t left = free;
  lacks_places = false;
  for (const SpawnCommand& command : order.commands) {
    SpawnPart& part = planned.emplace_back();
    if (Status status = find(command, search_path, part); !status.ok()) return status;
    std::vector<bool> allowed;
    if (Status status = find_allowed(command, allowed); !status.ok()) return status;
    part.requested = command.processes;
    if (Status status = choose_count(command, allowed, left, part); !status.ok()) {
      lacks_places = std::ranges::find(allowed, true) != allowed.end();
      return status;
    }
    left -= part.program.ranks;
  }
  parts = std::move(planned);
  return {};
}

}  // namespace margay::command
