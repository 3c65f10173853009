#include "mpi/dynamic/spawn_request.hpp"

#include <algorithm>
#include <utility>

#include "mpi/info/table.hpp"
#include "sim/boot/job.hpp"

namespace margay::mpi {

void add_command(Call& call, const SpawnArguments& arguments, sim::SpawnLines& request) {
  call.not_null(arguments.command, "command");
  if (call.ok() && arguments.processes < 0) {
    call.error(MPI_ERR_ARG, "maxprocs is " + std::to_string(arguments.processes) + "; it must not be negative");
  }
  if (!call.ok()) return;
  sim::SpawnLines::Command& command = request.commands.emplace_back();
  command.program = arguments.command;
  command.processes = static_cast<std::uint32_t>(arguments.processes);
  for (char* const* argument = arguments.argv; argument != nullptr && *argument != nullptr; ++argument) {
    command.arguments.emplace_back(*argument);
  }
  if (arguments.info == MPI_INFO_NULL) return;
  std::optional<Info> info = copy_of_info(arguments.info);
  if (!info) return call.error(MPI_ERR_INFO, bad_info_text(arguments.info));
  std::erase_if(info->pairs, [](const auto& pair) {
    return std::ranges::find(sim::kSpawnInfoKeys, pair.first) == sim::kSpawnInfoKeys.end();
  });
  command.info = std::move(info->pairs);
}

std::string why_no_spawn(const sim::Job& job) {
  switch (job.launcher) {
    case sim::Launcher::margay:
      return {};
    case sim::Launcher::pmi:
      return "this job was started by another launcher than `margay run`, whose new processes would be a job of their "
             "own";
    case sim::Launcher::none:
      return "this process has no launcher that could start others; start it by `margay run`";
  }
  return {};
}

}  // namespace margay::mpi
