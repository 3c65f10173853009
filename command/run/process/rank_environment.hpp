// The environment of a rank: inherited variables, those of the command line, and those by which the rank finds its job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/plan.hpp"
#include "command/run/options/run_options.hpp"

namespace margay::command {

// The descriptors that a process inherits; -1: none.
struct RankDescriptors {
  // One for each rank of the process.
  std::vector<int> pmi;
  int board = -1;
  int node_segment = -1;
  int findings = -1;
};

// A process's numbers in the job, in its world and on its node. The ranks of a process of threads follow each other,
// and the numbers are those of the first one.
struct RankIdentity {
  // Its place in the job.
  std::uint32_t place = 0;
  std::uint32_t world_rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t appnum = 0;
  // Ranks of its world that run its program.
  std::uint32_t program_ranks = 1;
  // Among the ranks of its world on its node.
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  // A process of the job has started it.
  bool spawned = false;
};
// The numbers of a rank that begins with the job.
[[nodiscard]] RankIdentity identity_of(const JobPlan& plan, std::uint32_t rank);

// NAME=VALUE entries for a process that runs `program`. `process_ranks`: its ranks. `library_folder` is put first in
// LD_LIBRARY_PATH; empty: that variable is left alone. Variables of an outer launcher (PMI_*, MARGAY_RANK, OMPI_*,
// PMIX_*) are not passed on. A trace folder is given as an absolute path, because the rank may change its directory.
// Later settings override earlier ones: inherited, margay's options, -genv, -env.
[[nodiscard]] std::vector<std::string> make_environment(const RunOptions& options, const ProgramSpec& program,
                                                        const RankIdentity& identity, std::uint32_t process_ranks,
                                                        const RankDescriptors& descriptors,
                                                        const std::string& library_folder, char** inherited);

// The LD_LIBRARY_PATH of this program's ranks; empty: not set.
[[nodiscard]] std::string library_path(const RunOptions& options, const ProgramSpec& program,
                                       const std::string& library_folder, char** inherited);

// Paths of the ranks' trace files, by rank; empty for a rank without a trace. Either an option or an environment
// variable may request the trace. `spawned`: the number of places, after those of the ranks that began with the job,
// that a started program has had.
[[nodiscard]] std::vector<std::string> trace_files(const RunOptions& options, std::uint32_t spawned, char** inherited);

// The folder with the libmpi.so.12 that was built or installed with this executable; empty: there is none.
[[nodiscard]] std::string find_library_folder();

// The folder with the libmpi.so.12 that these options select; empty: the options request the system's MPI, or there is
// no such folder.
[[nodiscard]] std::string library_folder_of(const RunOptions& options);
// Error: the library for lab 11 was requested and was not built.
[[nodiscard]] portals::Status check_library_folder(const RunOptions& options);

}  // namespace margay::command
