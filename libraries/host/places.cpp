// The functions of host::Rank for processes that start and end while the job runs. The launcher carries them out
// (docs/spawn.md).
#include <filesystem>
#include <system_error>

#include "libraries/host/part.hpp"
#include "sim/boot/job.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/machine/process.hpp"

namespace margay::libraries {

using portals::Status;

namespace {

// Fails where no launcher carries the request out. `what`: the end of a sentence.
Status check_launcher(const sim::Job& job, const std::string& what) {
  if (job.launcher == sim::Launcher::margay && job.pmi != nullptr) return {};
  return Status::error("this job has no launcher that could " + what + "; start it with `margay run`");
}

}  // namespace

std::uint32_t Part::places() const {
  return rank_.process().job().size;
}

bool Part::has_process(portals::Rank place) const {
  portals::require(place < places(), "a library asks for a place that the job does not have");
  return place < size() || !rank_.process().is_absent(place);
}

bool Part::has_left(portals::Rank place) const {
  portals::require(place < places(), "a library asks for a place that the job does not have");
  return rank_.process().has_left(place);
}

Status Part::start_processes(const std::string& program, std::uint32_t count, std::vector<portals::Rank>& places) {
  portals::require(library_.spans_places, "a library starts processes, but its description has no spans_places");
  const sim::Job& job = rank_.process().job();
  if (Status status = check_launcher(job, "start programs"); !status.ok()) return status;
  sim::SpawnLines request;
  sim::SpawnLines::Command& command = request.commands.emplace_back();
  command.program = program;
  command.processes = count;
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown).string();
  if (!folder.empty()) command.info.emplace_back("wdir", folder);
  request.preput.emplace_back(kStarterKey, library_.name);
  sim::Spawned started;
  if (Status status = job.pmi->spawn(request, started); !status.ok()) {
    return Status::error("the launcher started no process: " + status.sentence());
  }
  if (started.places.size() != count) {
    return Status::error("the launcher started " + std::to_string(started.places.size()) + " processes, not " +
                         std::to_string(count));
  }
  places.assign(started.places.begin(), started.places.end());
  return {};
}

Status Part::end_processes(const std::vector<portals::Rank>& places) {
  if (Status status = check_launcher(rank_.process().job(), "end processes"); !status.ok()) return status;
  for (const portals::Rank place : places) {
    portals::require(place >= size() && place < peers(), "a library ends a process that was not started later");
  }
  return rank_.process().job().pmi->kill(places);
}

void Part::note_end(portals::Rank place) {
  portals::require(place >= size() && place < peers(),
                   "a library notes the end of a process that was not started later");
  rank_.process().place_ended(place);
}

}  // namespace margay::libraries
