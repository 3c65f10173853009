// Processes of the job that load another MPI's library while they run, as an interpreter does (a program that is linked
// with one is refused before: symbol_check). Each of them is a job of one rank of its own and knows nothing of the
// others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

class OtherMpi {
 public:
  explicit OtherMpi(const sim::Board& board) : board_(board), seen_(board.size()) {}

  // The ranks start. `library_folder`: of margay's libmpi.so.12; empty: the system's MPI was asked for, and nothing is
  // looked for.
  void begin(const std::string& library_folder, std::int64_t now_ns);

  // Looks at the mapped files of ranks that have not begun margay's MPI, and of their children. `pids` by rank. What a
  // process had loaded cannot be seen after its end, so look while it lives: at due_ns().
  void look(const std::vector<int>& pids, std::int64_t now_ns);
  // -1: never. Soon at first, then ever more rarely, so that what stays loaded for a quarter of a rank's life is seen.
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  // "libmpi.so.40 (Open MPI)"; empty: the rank has loaded none that was seen.
  [[nodiscard]] const std::string& library_of(std::uint32_t rank) const { return seen_[rank].library; }
  // At the job's end: each rank that used another MPI instead is counted as a finding on the board, and is in `ranks`.
  // Returns the line for the user; empty: none did.
  [[nodiscard]] std::string conclude(std::vector<std::uint32_t>& ranks);

 private:
  struct Seen {
    std::string program;
    std::string library;
  };
  // What the process or a child of it has loaded.
  [[nodiscard]] Seen find(int pid, int depth) const;
  [[nodiscard]] std::string loaded_by(int pid) const;

  const sim::Board& board_;
  std::string ours_;  // the file, without links
  std::vector<Seen> seen_;
  std::int64_t began_ns_ = -1;
  std::int64_t due_ns_ = -1;
};

// Which MPI a file name means, "Open MPI"; empty: none. `path` as in /proc/PID/maps, `ours` is margay's.
[[nodiscard]] std::string mpi_behind(const std::string& path, const std::string& ours);

}  // namespace margay::command
