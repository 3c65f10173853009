// The operations that move blocks and combine nothing: who has a block for whom, between all ranks of a communicator,
// of two groups, or neighbors (MPI 4.0, 6.5 to 6.8 and 8.6). Each block goes straight to where it belongs
// (algorithm/direct, algorithm/exchange_posted). Gathers and scatters of one group, whose blocks have one length, have
// bindings of their own.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/call_record.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/blocks.hpp"
#include "mpi/collective/request_call.hpp"

namespace margay::mpi {

// Of the operations: gather, scatter, allgather, alltoall, neighbor_allgather, neighbor_alltoall.
using Move = collectives::Operation;

struct MoveArguments {
  Move operation;
  BlockArguments send;
  BlockArguments receive;
  int root = 0;  // of gather and scatter
  MPI_Comm comm = MPI_COMM_NULL;
};

class BlockMove {
 public:
  // Checks the arguments; the errors are the call's.
  BlockMove(Call& call, const MoveArguments& arguments);
  BlockMove(const BlockMove&) = delete;
  BlockMove& operator=(const BlockMove&) = delete;

  // All that follow require: no error was noted.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  // Calls function(Datatype&) for each type that blocks refer to.
  template <typename Function>
  void for_each_type(Function function) const {
    sent_.for_each_type(function);
    received_.for_each_type(function);
  }
  // A call begins: what the program has now is what is sent.
  void begin();
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
  // Its messages ended well.
  void finish() const;

 private:
  // A rank's place: which sides of the operation are its own.
  void find_sides(Call& call);
  void find_rooted_sides();
  void check_in_place(Call& call);
  void check_blocks(Call& call);
  // After plan_messages().
  void check_apart(Call& call) const;
  void plan_messages();
  void plan_neighbors();
  // In a grid that goes round, of one or two ranks, what goes out on one side comes in on the other.
  [[nodiscard]] bool other_side_first() const;
  // To the check of collective calls (block_shares).
  void tell(Call& call) const;
  struct PeersBlock {
    int peer, block;
  };
  [[nodiscard]] Shares shares_of(std::vector<PeersBlock> all, const Blocks& blocks) const;
  [[nodiscard]] Shares sends() const;
  [[nodiscard]] Shares expects() const;
  [[nodiscard]] bool rooted() const;
  [[nodiscard]] bool sends_each() const;
  // All blocks have one length, which all members name.
  [[nodiscard]] bool is_even() const;
  [[nodiscard]] std::uint64_t even_bytes() const;  // that one length
  // Of the blocks that this rank sends; of those that it receives where it sends none.
  [[nodiscard]] std::uint64_t own_bytes() const;
  [[nodiscard]] Algorithm algorithm_of(const StandingFacts& standing, std::uint64_t bytes) const;
  [[nodiscard]] int everybodys(int peer) const { return peer < 0 ? peer : peer + first_peer_; }
  [[nodiscard]] portals::Region staged(int block) const;

  MoveArguments arguments_;
  Communicator* communicator_;
  bool sends_ = true;
  bool receives_ = true;
  bool own_in_place_ = false;                // this rank's own block is where it belongs
  std::vector<int> destinations_, sources_;  // peers, by block
  int first_peer_ = 0;                       // the first peer's rank among everybody
  Blocks sent_, received_;

  struct Copy {
    portals::Region from, to;
  };
  std::vector<Copy> own_;
  std::vector<PeerMessage> out_, in_;
  // Several blocks for one neighbour, or from it, travel as one message, in their order. Long ones, each in one piece,
  // lie where the program has them; others are copied into a run, or out of it.
  struct Bundle {
    std::vector<portals::Buffer> pieces;
    std::vector<portals::Region> blocks;
    std::unique_ptr<std::byte[]> run;
  };
  std::vector<Bundle> bundles_out_, bundles_in_;
  // `several`: of one peer.
  [[nodiscard]] PeerMessage bundled(std::span<const PeerMessage> several, std::vector<Bundle>& bundles);
  // What an all-to-all with MPI_IN_PLACE sends, as others' blocks replace it where it lies.
  std::unique_ptr<std::byte[]> staging_;
};

// The whole of a binding that moves blocks.

inline int move(Call& call, const MoveArguments& arguments) {
  return perform_checked<BlockMove>(call, arguments);
}
inline int move(Call& call, Form form, const MoveArguments& arguments, MPI_Request* request) {
  return give_request<BlockMove, CheckedTask<BlockMove>>(call, form, arguments, request);
}

}  // namespace margay::mpi
