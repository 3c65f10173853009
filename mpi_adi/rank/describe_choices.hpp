// Descriptions of choices for `margay info`. One is the protocol of a point-to-point message, by wire, mode, and size
// below or above the short limit (protocol/select). The other is the method of access to a window's memory
// (mpi_adi/rma/window_method).
#pragma once

#include <string>
#include <vector>

#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// The lines of the protocol table, with the options of a run as a rank would have them. Invalid options give one line,
// the error message.
[[nodiscard]] std::vector<std::string> describe_choices(const sim::Options& options);
// The same with the options of this process's environment, for any number of ranks.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

// The remainder describes the methods of access to windows' memory.

// The means of access to windows' memory that this machine allows. Reasons are sentences without a full stop.
struct WindowMeans {
  bool shares_heap = false;  // processes of a node can map memory from MPI_Win_allocate
  std::string heap_reason;
  bool reads_others = false;  // a process can copy out of another's memory
  std::string reading_reason;
  std::string huge_pages;  // whether large pieces of the shared heap get huge pages
};
// Tries each means once on this machine, with the options of a run.
[[nodiscard]] WindowMeans try_window_means(const sim::Options& options);
// One line for each kind of memory: the method that windows of such a machine choose, and its reason.
[[nodiscard]] std::vector<std::string> describe_windows(const WindowMeans& means);
// The same for this machine, with the options of this process's environment.
[[nodiscard]] std::vector<std::string> describe_windows();

}  // namespace margay::mpi_adi
