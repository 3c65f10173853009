// The bitwise and of words over some ranks of a communicator, along the spanning tree. Nothing blocks: step() is called
// whenever something may have come, until it is done. Cost: 2 ceil(log2 p) (α + n β).
#pragma once

#include <span>
#include <vector>

#include "collectives/topology/spanning_tree.hpp"
#include "mpi_adi/device/device.hpp"
#include "mpi_adi/device/steps.hpp"
#include "mpi_adi/device/task.hpp"

namespace margay::collectives {

class TreeAnd {
 public:
  // `bytes`: MPI_BYTE. `ranks`: the participants' in `communicator`, no intercommunicator, which outlives this; `me`:
  // this process's place among them. `task`: woken when a step() would go on. The same order and `tag`
  // (collectives/comm/internal_tag.hpp) on all; nobody else uses that tag meanwhile.
  TreeAnd(mpi_adi::Device& device, mpi_adi::Datatype& bytes, mpi_adi::Communicator& communicator,
          std::vector<int> ranks, int me, int tag, mpi_adi::Task* task = nullptr);
  TreeAnd(const TreeAnd&) = delete;
  TreeAnd& operator=(const TreeAnd&) = delete;

  // Begins with this process's words, which stay in place until done. Requires: nothing is under way.
  void start(std::span<std::uint64_t> words);
  // true: done. Then the words are the result on all, or error_class() says that a participant is lost.
  [[nodiscard]] bool step() { return flow_.go_on() && text_.done(); }
  [[nodiscard]] int error_class() const { return error_class_; }
  [[nodiscard]] mpi_adi::FramePool& frames() { return frames_; }

 private:
  using Words = std::vector<std::uint64_t>;
  class Messages;

  [[nodiscard]] mpi_adi::Steps text();

  mpi_adi::Device& device_;
  mpi_adi::Datatype& bytes_;
  mpi_adi::Communicator& communicator_;
  std::vector<int> ranks_;
  TreePlace place_;
  int tag_;
  mpi_adi::Task* task_;
  int error_class_ = 0;
  std::span<std::uint64_t> words_;
  // The words, and one more behind them: all ones while no participant is known to be lost.
  Words outgoing_;
  mpi_adi::FramePool frames_;
  mpi_adi::Flow flow_{frames_, nullptr};
  mpi_adi::Steps text_;
};

}  // namespace margay::collectives
