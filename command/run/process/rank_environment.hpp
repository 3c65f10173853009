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

// NAME=VALUE entries for the process whose first rank is `rank`. `library_folder` is put first in LD_LIBRARY_PATH;
// empty: that variable is left alone. Variables of an outer launcher (PMI_*, MARGAY_RANK, OMPI_*, PMIX_*) are not
// passed on. A trace folder is given as an absolute path, because the rank may change its directory. Later settings
// override earlier ones: inherited, margay's options, -genv, -env.
[[nodiscard]] std::vector<std::string> make_environment(const RunOptions& options, const JobPlan& plan,
                                                        std::uint32_t rank, const RankDescriptors& descriptors,
                                                        const std::string& library_folder, char** inherited);

// The LD_LIBRARY_PATH of this program's ranks; empty: not set.
[[nodiscard]] std::string library_path(const RunOptions& options, const ProgramSpec& program,
                                       const std::string& library_folder, char** inherited);

// Paths of the ranks' trace files, by rank; empty for a rank without a trace. Either an option or an environment
// variable may request the trace.
[[nodiscard]] std::vector<std::string> trace_files(const RunOptions& options, char** inherited);

// The folder with the libmpi.so.12 that was built or installed with this executable; empty: there is none.
[[nodiscard]] std::string find_library_folder();

// The folder with the libmpi.so.12 that these options select; empty: the options request the system's MPI, or there is
// no such folder.
[[nodiscard]] std::string library_folder_of(const RunOptions& options);
// Error: the library for lab 11 was requested and was not built.
[[nodiscard]] portals::Status check_library_folder(const RunOptions& options);

}  // namespace margay::command
