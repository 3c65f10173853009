#include "collectives/comm/tree_and.hpp"

#include <algorithm>
#include <functional>

#include "mpi_adi/abi/mpi.h"

namespace margay::collectives {

namespace {

constexpr std::uint64_t kAllWell = ~std::uint64_t{0};

std::int64_t bytes_of(const std::vector<std::uint64_t>& words) {
  return static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t));
}

}  // namespace

TreeAnd::TreeAnd(mpi_adi::Device& device, mpi_adi::Datatype& bytes, mpi_adi::Communicator& communicator,
                 std::vector<int> ranks, int me, int tag)
    : device_(device),
      bytes_(bytes),
      communicator_(communicator),
      ranks_(std::move(ranks)),
      place_(spanning_tree(static_cast<int>(ranks_.size()), 0, me)),
      tag_(tag) {}

void TreeAnd::expect(int from, Words& landing) {
  // What a lost participant does not fill says so.
  landing.assign(words_.size() + 1, 0);
  awaited_.push_back(device_.start_receive(landing.data(), bytes_of(landing), bytes_,
                                           ranks_[static_cast<std::size_t>(from)], tag_, communicator_,
                                           mpi_adi::Context::collective));
}

void TreeAnd::send(int to) {
  awaited_.push_back(device_.start_send(mpi_adi::SendMode::standard, outgoing_.data(), bytes_of(outgoing_), bytes_,
                                        ranks_[static_cast<std::size_t>(to)], tag_, communicator_,
                                        mpi_adi::Context::collective));
}

void TreeAnd::start(std::span<std::uint64_t> words) {
  words_ = words;
  for (const TreePlace::Child& child : place_.children) expect(child.rank, incoming_.emplace_back());
  state_ = State::children;
}

bool TreeAnd::all_here() {
  if (!std::all_of(awaited_.begin(), awaited_.end(), [](const mpi_adi::Request* one) { return one->complete; })) {
    return false;
  }
  for (mpi_adi::Request* one : awaited_) {
    if (one->error_class != MPI_SUCCESS) error_class_ = one->error_class;
    device_.free(*one);
  }
  awaited_.clear();
  return true;
}

bool TreeAnd::step() {
  while (state_ != State::done && all_here()) {
    switch (state_) {
      case State::children:
        outgoing_.assign(words_.begin(), words_.end());
        outgoing_.push_back(kAllWell);
        for (const Words& theirs : incoming_) {
          std::transform(theirs.begin(), theirs.end(), outgoing_.begin(), outgoing_.begin(), std::bit_and<>());
        }
        incoming_.clear();
        state_ = State::parent;
        if (place_.parent < 0) break;
        expect(place_.parent, incoming_.emplace_back());
        send(place_.parent);
        break;
      case State::parent:
        if (place_.parent >= 0) outgoing_ = incoming_.front();
        incoming_.clear();
        for (const TreePlace::Child& child : place_.children) send(child.rank);
        state_ = State::telling;
        break;
      case State::telling:
        std::copy_n(outgoing_.begin(), words_.size(), words_.begin());
        if (outgoing_.back() == 0 && error_class_ == MPI_SUCCESS) error_class_ = MPIX_ERR_PROC_FAILED;
        state_ = State::done;
        break;
      case State::done:
        break;
    }
  }
  return state_ == State::done;
}

}  // namespace margay::collectives
