// A reader of the board of a job that another process runs.
//
// It copies by pread() instead of mapping the file. So a truncated file causes a failed read and not a SIGBUS, and the
// command cannot write to the board by mistake. Ranks write by plain stores while it reads, and there is no lock.
// Therefore:
// - numbers of 8 bytes are whole, because each is one aligned store;
// - the call in progress and the wait are read until two successive copies are equal, four times at most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

// A job's board, opened for reading. Owns the descriptor. Nothing in the file is trusted: sizes are checked when it is
// opened.
class BoardReader {
 public:
  BoardReader() = default;
  BoardReader(BoardReader&& other) noexcept { swap(other); }
  BoardReader& operator=(BoardReader&& other) noexcept {
    swap(other);
    return *this;
  }
  BoardReader(const BoardReader&) = delete;
  BoardReader& operator=(const BoardReader&) = delete;
  ~BoardReader();

  // Takes ownership of the descriptor, also on failure. Error: the file is not a complete board of this version, or its
  // sizes are inconsistent; the message is the end of a sentence ("is ...", "has ...").
  [[nodiscard]] static portals::Status open(int descriptor, BoardReader& out);

  // The number of places of the job.
  [[nodiscard]] std::uint32_t size() const { return header_.size; }
  // Places that have, or had, a process, as of the latest refresh(); at most size().
  [[nodiscard]] std::uint32_t used() const { return std::min(header_.used, header_.size); }
  // As of the latest refresh(); the size never changes.
  [[nodiscard]] const sim::BoardHeader& header() const { return header_; }
  // Reads the header again. False: the file has become shorter, or has other contents.
  [[nodiscard]] bool refresh();
  // By rank: its node, smaller than the board's node_count.
  [[nodiscard]] const std::vector<std::uint32_t>& node_of_rank() const { return nodes_; }
  // Reads a rank's block. If no two successive copies of the wait were equal, `wait` is empty; the same holds for an
  // mpi_call of 16 characters or more. Requires: rank < size(). False: the file has become shorter.
  [[nodiscard]] bool read_block(std::uint32_t rank, sim::BoardBlock& out) const;
  // The file's identity; boards of the same file belong to the same job.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> file() const { return file_; }

 private:
  void swap(BoardReader& other) noexcept;

  int descriptor_ = -1;
  sim::BoardHeader header_;
  std::vector<std::uint32_t> nodes_;
  // Device and inode number.
  std::pair<std::uint64_t, std::uint64_t> file_;
};

}  // namespace margay::command
