// A search for processes of the job that load another MPI's library while they run, as an interpreter does.
// Each such process is a job of one rank on its own, so the program seems to run, with wrong results. (symbol_check
// rejects a program that is linked with another MPI's library before its start.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

// Polls /proc of the ranks that have not begun margay's MPI, at growing intervals.
class OtherMpi {
 public:
  explicit OtherMpi(const sim::Board& board) : board_(board), found_(board.size()) {}

  // To be called as the ranks start. `library_folder`: that of margay's libmpi.so.12; empty: the system's MPI was
  // requested, and nothing is searched for.
  void begin(const std::string& library_folder, std::int64_t now_ns);

  // Examines the mapped files of ranks that have not begun margay's MPI, and of their descendants. `pids`: by rank; 0:
  // skipped. A process shows its libraries only while it lives, so call this at each due_ns().
  void look(const std::vector<int>& pids, std::int64_t now_ns);
  // The time of the next look(); -1: never. Intervals grow with the job's age, so that a library that stays loaded for
  // a quarter of a rank's life is seen.
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  // "libmpi.so.40 (Open MPI)"; empty: none was seen.
  [[nodiscard]] const std::string& library_of(std::uint32_t rank) const { return found_[rank].library; }
  // Called at the job's end. Counts a finding on the board for each rank that used another MPI instead, and returns
  // these ranks in `ranks`. Returns the line for the user; empty: there is no such rank.
  [[nodiscard]] std::string conclude(std::vector<std::uint32_t>& ranks);

 private:
  struct FoundLibrary {
    std::string program;
    std::string library;
  };
  // The first library found in the process or a descendant.
  [[nodiscard]] FoundLibrary find(int pid, int depth) const;
  [[nodiscard]] std::string loaded_by(int pid) const;

  const sim::Board& board_;
  // The file of margay's library, links resolved.
  std::string ours_;
  std::vector<FoundLibrary> found_;
  std::int64_t began_ns_ = -1;
  std::int64_t due_ns_ = -1;
};

// The MPI to which a file name belongs, "Open MPI"; empty: none. `path` as in /proc/PID/maps, `ours` is margay's.
[[nodiscard]] std::string mpi_behind(const std::string& path, const std::string& ours);

}  // namespace margay::command
