// The bitwise and of words over some ranks of a communicator, along the spanning tree. Nothing blocks: step() is called
// until it is done. Cost: 2 ceil(log2 p) (α + n β).
#pragma once

#include <list>
#include <span>
#include <vector>

#include "collectives/topology/spanning_tree.hpp"
#include "mpi_adi/device/device.hpp"

namespace margay::collectives {

class TreeAnd {
 public:
  // `bytes`: MPI_BYTE. `ranks`: the participants' in `communicator`, no intercommunicator, which outlives this; `me`:
  // this process's place among them. The same order and `tag` (collectives/comm/internal_tag.hpp) on all; nobody else
  // uses that tag meanwhile.
  TreeAnd(mpi_adi::Device& device, mpi_adi::Datatype& bytes, mpi_adi::Communicator& communicator,
          std::vector<int> ranks, int me, int tag);
  TreeAnd(const TreeAnd&) = delete;
  TreeAnd& operator=(const TreeAnd&) = delete;

  // Begins with this process's words, which stay in place until done. Requires: nothing is under way.
  void start(std::span<std::uint64_t> words);
  // true: done. Then the words are the result on all, or error_class() says that a participant is lost.
  [[nodiscard]] bool step();
  [[nodiscard]] int error_class() const { return error_class_; }

 private:
  enum class State : std::uint8_t { children, parent, telling, done };
  using Words = std::vector<std::uint64_t>;

  void expect(int from, Words& landing);
  void send(int to);
  // Frees what was awaited when all of it is complete; false before.
  [[nodiscard]] bool all_here();

  mpi_adi::Device& device_;
  mpi_adi::Datatype& bytes_;
  mpi_adi::Communicator& communicator_;
  std::vector<int> ranks_;
  TreePlace place_;
  int tag_;
  State state_ = State::done;
  int error_class_ = 0;
  std::span<std::uint64_t> words_;
  // The words, and one more behind them: all ones while no participant is known to be lost.
  Words outgoing_;
  std::list<Words> incoming_;
  std::vector<mpi_adi::Request*> awaited_;
};

}  // namespace margay::collectives
