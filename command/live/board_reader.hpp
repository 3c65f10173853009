// Reads the board of a job that another process runs.
//
// By pread() into memory of its own: a file that is cut short meanwhile is an error here and no fault, and nothing can
// be written. Ranks write while it is read, by plain stores, and there is no lock to ask them for. What follows:
// - numbers of 8 bytes are whole: each is one store, and read where it is aligned;
// - texts and what belongs together (the call in progress, the wait) is read twice, and taken when both are the same.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

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

  // Takes the descriptor, and closes it whatever comes of it. Error: it is no board, is not complete, is another
  // version's, or its sizes do not fit each other; the sentence's end ("is ...", "has ...").
  [[nodiscard]] static portals::Status open(int descriptor, BoardReader& out);

  [[nodiscard]] std::uint32_t size() const { return header_.size; }
  // As of the last look at it; its size never changes.
  [[nodiscard]] const sim::BoardHeader& header() const { return header_; }
  // Looks at the header again. false: the file has become shorter, or another's.
  [[nodiscard]] bool refresh();
  // Nodes of the ranks, by rank; each smaller than the board's node_count.
  [[nodiscard]] const std::vector<std::uint32_t>& node_of_rank() const { return nodes_; }
  // A rank's block now. What could not be read whole is empty: mpi_call, or wait. Requires: rank < size(). false as
  // above.
  [[nodiscard]] bool read_block(std::uint32_t rank, sim::BoardBlock& out) const;
  // The file behind it: of two boards with the same one the job is one.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> file() const { return file_; }

 private:
  void swap(BoardReader& other) noexcept;

  int descriptor_ = -1;
  sim::BoardHeader header_;
  std::vector<std::uint32_t> nodes_;
  std::pair<std::uint64_t, std::uint64_t> file_;  // device and number
};

}  // namespace margay::command
