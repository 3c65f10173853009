// The environment of a rank: what is inherited, what the command line sets, and how the rank finds its job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/plan.hpp"
#include "command/run/options/run_options.hpp"

namespace margay::command {

// The descriptors a rank inherits, by number; -1: none.
struct RankDescriptors {
  int pmi = -1;
  int board = -1;
  int node_segment = -1;
  int findings = -1;
};

// NAME=VALUE entries for one rank. `library_folder` comes first in LD_LIBRARY_PATH; empty: that variable is left alone.
// Variables of an outer launcher (PMI_*, MARGAY_RANK, OMPI_*, PMIX_*) are not passed on; a trace's folder is told from
// the root on.
[[nodiscard]] std::vector<std::string> make_environment(const RunOptions& options, const JobPlan& plan,
                                                        std::uint32_t rank, const RankDescriptors& descriptors,
                                                        const std::string& library_folder, char** inherited);

// LD_LIBRARY_PATH of this program's ranks; empty: not set.
[[nodiscard]] std::string library_path(const RunOptions& options, const ProgramSpec& program,
                                       const std::string& library_folder, char** inherited);

// Where the ranks' trace files lie, in the order of ranks, whatever tells them; empty for those that are not told to
// record.
[[nodiscard]] std::vector<std::string> trace_files(const RunOptions& options, char** inherited);

// The folder with libmpi.so.12 that belongs to this executable; empty when there is none.
[[nodiscard]] std::string find_library_folder();

// The folder with the libmpi.so.12 that these options ask for; empty: the system's is asked for, or there is none.
[[nodiscard]] std::string library_folder_of(const RunOptions& options);
// Error: it is asked for by name, and was not built.
[[nodiscard]] portals::Status check_library_folder(const RunOptions& options);

}  // namespace margay::command
