#include "command/run/process/rank_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "command/run/options/trace_folder.hpp"
#include "sim/trace/folder.hpp"

namespace margay::command {
namespace {

// The library of MPI over Nexus, which the dynamic linker finds in the folder of libmpi.so.12.
constexpr char kNexusMpi[] = "libmargay_nexus_mpi.so.0";

using Variables = std::map<std::string, std::string>;

// Prefixes of an outer launcher's variables. A rank that inherited them would join that launcher's job.
constexpr std::string_view kOuterLauncherPrefixes[] = {"PMI_", "PMIX_", "OMPI_", "HYDI_", "HYDRA_", "MPI_LOCAL"};
constexpr std::string_view kOuterJob[] = {
    "MARGAY_RANK", "MARGAY_BOARD_FD",    "MARGAY_NODE_FD",       "MARGAY_APPNUM",  "MARGAY_PROGRAM_RANKS",
    "MARGAY_JOB",  "MARGAY_FINDINGS_FD", "MARGAY_FINDINGS_PATH", "MARGAY_THREADS", "MARGAY_PMI_FDS"};

bool belongs_to_outer_launcher(std::string_view name) {
  const auto starts = [name](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  return std::any_of(std::begin(kOuterLauncherPrefixes), std::end(kOuterLauncherPrefixes), starts) ||
         std::find(std::begin(kOuterJob), std::end(kOuterJob), name) != std::end(kOuterJob);
}

bool is_inherited(std::string_view name, const InheritedEnvironment& rule) {
  // Even -genvlist cannot pass these on.
  if (belongs_to_outer_launcher(name)) return false;
  if (rule.listed) return std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
  return !rule.none;
}

// A map, so that later settings replace inherited ones without duplicates.
Variables inherit(const InheritedEnvironment& rule, char** inherited) {
  Variables variables;
  for (; inherited != nullptr && *inherited != nullptr; ++inherited) {
    const std::string_view entry(*inherited);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = entry.substr(0, equals);
    if (is_inherited(name, rule)) variables.emplace(name, entry.substr(equals + 1));
  }
  return variables;
}

// The variables by which a process finds its job, as its first rank; set last, so that no option can replace them.
void join_job(Variables& variables, const RankIdentity& identity, std::uint32_t process_ranks,
              const RankDescriptors& descriptors) {
  variables["PMI_FD"] = std::to_string(descriptors.pmi.front());
  if (process_ranks > 1) {
    variables["MARGAY_THREADS"] = std::to_string(process_ranks);
    std::string& list = variables["MARGAY_PMI_FDS"];
    for (const int descriptor : descriptors.pmi) list += (list.empty() ? "" : ",") + std::to_string(descriptor);
  }
  variables["PMI_RANK"] = std::to_string(identity.world_rank);
  variables["PMI_SIZE"] = std::to_string(identity.world_size);
  // By it a program of MPICH knows that it has a parent.
  if (identity.spawned) variables["PMI_SPAWNED"] = "1";
  variables["MARGAY_RANK"] = std::to_string(identity.place);
  variables["MARGAY_BOARD_FD"] = std::to_string(descriptors.board);
  variables["MARGAY_APPNUM"] = std::to_string(identity.appnum);
  variables["MARGAY_PROGRAM_RANKS"] = std::to_string(identity.program_ranks);
  if (descriptors.node_segment >= 0) variables["MARGAY_NODE_FD"] = std::to_string(descriptors.node_segment);
  if (descriptors.findings >= 0) {
    const std::string number = std::to_string(descriptors.findings);
    variables["MARGAY_FINDINGS_FD"] = number;
    // For a process that a rank starts without its descriptors.
    variables["MARGAY_FINDINGS_PATH"] = "/proc/" + std::to_string(::getpid()) + "/fd/" + number;
  }
  // Scripts read these to learn their rank before MPI_Init, as under MPICH.
  variables["MPI_LOCALRANKID"] = std::to_string(identity.local_rank);
  variables["MPI_LOCALNRANKS"] = std::to_string(identity.local_size);
}

// The variables that all ranks of a program have in common.
Variables of_program(const RunOptions& options, const ProgramSpec& program, const std::string& library_folder,
                     char** inherited) {
  Variables variables = inherit(options.inherited, inherited);
  // The order makes -env override -genv, and both override margay's options.
  for (const Assignments* set : {&options.rank_options, &options.environment, &program.environment}) {
    for (const auto& [name, value] : *set) variables[name] = value;
  }
  if (const auto trace = variables.find("MARGAY_TRACE"); trace != variables.end()) {
    // The folder of a program that a rank starts does not depend on that program's working directory.
    trace->second = whole_trace_folder(program.is_spawned ? ProgramSpec() : program, trace->second);
  }
  if (!library_folder.empty()) {
    std::string& path = variables["LD_LIBRARY_PATH"];
    // The folder is put in front, because the user's path may lead to another MPI library.
    path = path.empty() ? library_folder : library_folder + ":" + path;
  }
  if (options.over_nexus) {
    std::string& before = variables["LD_PRELOAD"];
    before = before.empty() ? kNexusMpi : std::string(kNexusMpi) + ":" + before;
  }
  return variables;
}

}  // namespace

std::string library_path(const RunOptions& options, const ProgramSpec& program, const std::string& library_folder,
                         char** inherited) {
  return of_program(options, program, library_folder, inherited)["LD_LIBRARY_PATH"];
}

// Merges the settings by the same function as make_environment(), so that the paths are those that the ranks use.
std::vector<std::string> trace_files(const RunOptions& options, std::uint32_t spawned, char** inherited) {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& folder, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string name = sim::trace_file_name(static_cast<std::uint32_t>(files.size()));
      files.push_back(folder.empty() ? "" : folder + "/" + name);
    }
  };
  for (const ProgramSpec& program : options.programs) {
    add(of_program(options, program, "", inherited)["MARGAY_TRACE"], program.ranks);
  }
  // Started programs record into the folder of the whole job, whatever their working directory.
  add(of_program(options, ProgramSpec(), "", inherited)["MARGAY_TRACE"], spawned);
  return files;
}

RankIdentity identity_of(const JobPlan& plan, std::uint32_t rank) {
  RankIdentity identity;
  identity.place = identity.world_rank = rank;
  identity.world_size = plan.size();
  const std::vector<std::uint32_t>& programs = plan.program_of_rank;
  identity.appnum = programs[rank];
  identity.program_ranks = static_cast<std::uint32_t>(std::count(programs.begin(), programs.end(), programs[rank]));
  const std::vector<std::uint32_t>& nodes = plan.node_of_rank;
  identity.local_rank = static_cast<std::uint32_t>(std::count(nodes.begin(), nodes.begin() + rank, nodes[rank]));
  identity.local_size = static_cast<std::uint32_t>(std::count(nodes.begin(), nodes.end(), nodes[rank]));
  return identity;
}

std::vector<std::string> make_environment(const RunOptions& options, const ProgramSpec& program,
                                          const RankIdentity& identity, std::uint32_t process_ranks,
                                          const RankDescriptors& descriptors, const std::string& library_folder,
                                          char** inherited) {
  Variables variables = of_program(options, program, library_folder, inherited);
  join_job(variables, identity, process_ranks, descriptors);
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::string find_library_folder() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return {};
  std::string folder(path, static_cast<std::size_t>(length));
  folder.resize(folder.rfind('/'));
  const std::string prefix = folder.substr(0, folder.rfind('/'));
  // First the folders of an installation, then that of a build, which contains library and executable.
  for (const std::string& candidate :
       {prefix + "/lib", prefix + "/lib/x86_64-linux-gnu", prefix + "/lib/aarch64-linux-gnu", prefix + "/lib64",
        prefix + "/lib/margay", folder}) {
    if (::access((candidate + "/libmpi.so.12").c_str(), R_OK) == 0) return candidate;
  }
  return {};
}

std::string library_folder_of(const RunOptions& options) {
  if (options.system_mpi) return {};
  const std::string folder = find_library_folder();
  return options.racy_mpi && !folder.empty() ? folder + "/margay/labs" : folder;
}

portals::Status check_library_folder(const RunOptions& options) {
  if (options.over_nexus) {
    const std::string file = library_folder_of(options) + "/" + kNexusMpi;
    if (::access(file.c_str(), R_OK) != 0)
      return portals::Status::error("--over nexus: cannot read " + file +
                                    "; build margay's target margay_nexus_mpi, or install margay anew");
  }
  if (!options.racy_mpi) return {};
  const std::string folder = library_folder_of(options);
  if (!folder.empty() && ::access((folder + "/libmpi.so.12").c_str(), R_OK) == 0) return {};
  return portals::Status::error(
      "--mpi racy: cannot read " + (folder.empty() ? "margay/labs" : folder) +
      "/libmpi.so.12; build margay with -DMARGAY_LABS=ON (target mpi_racy), or install it anew");
}

}  // namespace margay::command
