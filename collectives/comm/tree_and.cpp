#include "collectives/comm/tree_and.hpp"

#include <algorithm>
#include <deque>
#include <functional>

#include "mpi_adi/abi/mpi.h"

namespace margay::collectives {

namespace {

constexpr std::uint64_t kAllWell = ~std::uint64_t{0};

std::int64_t bytes_of(const std::vector<std::uint64_t>& words) {
  return static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t));
}

}  // namespace

// Sends and receives that go at once: awaited until all are complete.
class TreeAnd::Messages : public mpi_adi::Awaitable<Messages>, private mpi_adi::RequestOwner {
 public:
  explicit Messages(TreeAnd& tree) : tree_(tree) {}
  void expect(int from, Words& landing) {
    // What a lost participant does not fill says so.
    landing.assign(tree_.words_.size() + 1, 0);
    own(tree_.device_.start_receive(landing.data(), bytes_of(landing), tree_.bytes_, rank_of(from), tree_.tag_,
                                    tree_.communicator_, mpi_adi::Context::collective));
  }
  void send(int to) {
    own(tree_.device_.start_send(mpi_adi::SendMode::standard, tree_.outgoing_.data(), bytes_of(tree_.outgoing_),
                                 tree_.bytes_, rank_of(to), tree_.tag_, tree_.communicator_,
                                 mpi_adi::Context::collective));
  }

  [[nodiscard]] mpi_adi::Flow& flow() const { return tree_.flow_; }
  [[nodiscard]] int messages() const { return 1; }
  [[nodiscard]] bool advance() const { return under_way_ == 0; }

 private:
  [[nodiscard]] int rank_of(int participant) const { return tree_.ranks_[static_cast<std::size_t>(participant)]; }
  void own(mpi_adi::Request* request) {
    ++under_way_;
    tree_.device_.give_to(*this, *request);
  }
  void part_completed(const mpi_adi::Request& part) override {
    if (part.error_class != MPI_SUCCESS) tree_.error_class_ = part.error_class;
    if (--under_way_ == 0 && tree_.task_ != nullptr) tree_.task_->wake();
  }

  TreeAnd& tree_;
  int under_way_ = 0;
};

TreeAnd::TreeAnd(mpi_adi::Device& device, mpi_adi::Datatype& bytes, mpi_adi::Communicator& communicator,
                 std::vector<int> ranks, int me, int tag, mpi_adi::Task* task)
    : device_(device),
      bytes_(bytes),
      communicator_(communicator),
      ranks_(std::move(ranks)),
      place_(spanning_tree(static_cast<int>(ranks_.size()), 0, me)),
      tag_(tag),
      task_(task) {}

void TreeAnd::start(std::span<std::uint64_t> words) {
  words_ = words;
  text_ = text();
}

mpi_adi::Steps TreeAnd::text() {
  {
    std::deque<Words> theirs;
    Messages children(*this);
    for (const TreePlace::Child& child : place_.children) children.expect(child.rank, theirs.emplace_back());
    co_await children;
    outgoing_.assign(words_.begin(), words_.end());
    outgoing_.push_back(kAllWell);
    for (const Words& each : theirs) {
      std::transform(each.begin(), each.end(), outgoing_.begin(), outgoing_.begin(), std::bit_and<>());
    }
  }
  if (place_.parent >= 0) {
    Words result;
    Messages parent(*this);
    parent.expect(place_.parent, result);
    parent.send(place_.parent);
    co_await parent;
    outgoing_ = result;
  }
  Messages telling(*this);
  for (const TreePlace::Child& child : place_.children) telling.send(child.rank);
  co_await telling;
  std::copy_n(outgoing_.begin(), words_.size(), words_.begin());
  if (outgoing_.back() == 0 && error_class_ == MPI_SUCCESS) error_class_ = MPIX_ERR_PROC_FAILED;
}

}  // namespace margay::collectives
