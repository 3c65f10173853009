// The record of a call that moves blocks, for the check of collective calls (--check-types): the receiver and the
// sender of each block.
#include <algorithm>
#include <utility>
#include <variant>

#include "mpi/collective/block_move.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi_adi/object/topology.hpp"

namespace margay::mpi {

// The record has a count and a type only if all blocks of the send side have the same; of the receive side, if this
// rank sends none.
void BlockMove::report_shares(Call& call) const {
  CollectiveCall what{.root = rooted() ? arguments_.root : kNoRoot};
  const Blocks& named = sent_.size() > 0 ? sent_ : received_;
  const BlockArguments& side = &named == &sent_ ? arguments_.send : arguments_.receive;
  if (side.sort == BlockArguments::Sort::even && named.size() > 0) {
    what.count = side.count;
    what.type = &named.type_of(0);
  }
  const bool varies = arguments_.receive.sort != BlockArguments::Sort::even;
  record_call(call, *communicator_, what, {sends(), expects(), arguments_.operation == Move::allgather && varies});
}

// With MPI_IN_PLACE a rank's blocks are those of its receive side.
Shares BlockMove::sends() const {
  const bool in_place = arguments_.send.in_place();
  if (!sends_ || (in_place && rooted())) return {};
  const int one = in_place ? communicator_->rank() : 0;
  std::vector<PeersBlock> sent;
  for (std::size_t at = 0; at < destinations_.size(); ++at) {
    sent.push_back({destinations_[at], sends_each() ? static_cast<int>(at) : one});
  }
  return shares_of(std::move(sent), in_place ? received_ : sent_);
}

// If a rank is a neighbor several times, its blocks are in the order of plan_neighbors().
Shares BlockMove::expects() const {
  if (!receives_ || arguments_.receive.in_place()) return {};
  const std::size_t other_side = other_side_first() ? 1 : 0;
  std::vector<PeersBlock> received;
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const std::size_t at = n ^ other_side;
    received.push_back({sources_[at], arguments_.operation == Move::scatter ? 0 : static_cast<int>(at)});
  }
  return shares_of(std::move(received), received_);
}

// Sorted by peer, and for each peer in the order of sending: the check compares the n-th block that one rank sends with
// the n-th that the other expects.
Shares BlockMove::shares_of(std::vector<PeersBlock> all, const Blocks& blocks) const {
  std::ranges::stable_sort(all, {}, &PeersBlock::peer);
  Shares shares;
  const Datatype* type = nullptr;
  Amount amount;
  for (const auto& [peer, block] : all) {
    if (peer < 0) continue;
    const std::uint64_t bytes = blocks[block].bytes();
    // Most blocks have one type, and each signature costs a walk over it.
    if (type != &blocks.type_of(block) || amount.bytes != bytes) {
      type = &blocks.type_of(block);
      amount = amount_of(*type, bytes);
    }
    add_share(shares, everybodys(peer), amount);
  }
  return shares;
}

}  // namespace margay::mpi
