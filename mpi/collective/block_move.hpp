// The collective operations that move blocks and combine nothing, between all ranks of a communicator, of two groups,
// or neighbors (MPI 4.0, 6.5 to 6.8 and 8.6). Each block goes straight to its receiver (algorithm/direct,
// algorithm/exchange_posted). Gathers and scatters of one group with blocks of one length have bindings of their own,
// which can use other algorithms.
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

// One of: gather, scatter, allgather, alltoall, neighbor_allgather, neighbor_alltoall.
using Move = collectives::Operation;

// The arguments of such a call, as the program names them.
struct MoveArguments {
  Move operation;
  BlockArguments send;
  BlockArguments receive;
  // For gather and scatter only. On an intercommunicator: MPI_ROOT, MPI_PROC_NULL or a rank of the remote group.
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

// One call that moves blocks: its checked arguments and its messages. Refers to the program's buffers. perform() and
// CheckedTask use it through plan(), routine(), begin() and finish().
class BlockMove {
 public:
  // Checks the arguments; sets the call's error.
  BlockMove(Call& call, const MoveArguments& arguments);
  BlockMove(const BlockMove&) = delete;
  BlockMove& operator=(const BlockMove&) = delete;

  // All members below require: no error is set.
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  // Calls function(Datatype&) for each type that blocks refer to.
  template <typename Function>
  void for_each_type(Function function) const {
    sent_.for_each_type(function);
    received_.for_each_type(function);
  }
  // Called when a call begins: packs the blocks that have to be copied before they are sent.
  void begin();
  // The algorithm, chosen only by facts that are equal on all members, so that all choose the same one.
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  // The routine of one call. It refers to this object, which outlives it.
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
  // Called after success: unpacks received bundles.
  void finish() const;

 private:
  // Determine this rank's sides of the operation: its peers, and whether it sends and receives.
  void find_sides(Call& call);
  void find_rooted_sides();
  // Checks where MPI_IN_PLACE is allowed, and the blocks of both sides.
  void check_in_place(Call& call);
  void check_blocks(Call& call);
  // Checks that send and receive blocks do not overlap. Requires: plan_messages() was called.
  void check_apart(Call& call) const;
  // Make the lists of messages: out_ and in_, one for each peer, and copies for this rank's own blocks.
  void plan_messages();
  void plan_neighbors();
  // Whether the blocks from both neighbors of a dimension are taken in reverse order: true for Cartesian grids. In a
  // periodic dimension of one or two ranks both neighbors are the same rank, and a block that leaves on one side
  // arrives on the other.
  [[nodiscard]] bool other_side_first() const;
  // Reports the call to the check of collective calls (check_call).
  void report_shares(Call& call) const;
  // A block and its peer, in the report.
  struct PeersBlock {
    int peer, block;
  };
  [[nodiscard]] Shares shares_of(std::vector<PeersBlock> all, const Blocks& blocks) const;
  [[nodiscard]] Shares sends() const;
  [[nodiscard]] Shares expects() const;
  // Whether the operation has a root, and whether it sends a block of its own to each peer.
  [[nodiscard]] bool rooted() const;
  [[nodiscard]] bool sends_each() const;
  // Whether all blocks have one length, which all members pass.
  [[nodiscard]] bool is_even() const;
  // Bytes of one block. Requires: is_even().
  [[nodiscard]] std::uint64_t even_bytes() const;
  // Bytes of the blocks that this rank sends, or if none, receives; for the trace.
  [[nodiscard]] std::uint64_t own_bytes() const;
  // Algorithm::shared if the members can read each other's memory, otherwise direct messages. For an even all-to-all
  // the cost decides.
  [[nodiscard]] Algorithm algorithm_of(const StandingFacts& standing, std::uint64_t bytes) const;
  // A peer's rank in the communicator of both groups.
  [[nodiscard]] int everybodys(int peer) const { return peer < 0 ? peer : peer + first_peer_; }
  // The place of a block in `staging_`.
  [[nodiscard]] portals::Region staged(int block) const;

  MoveArguments arguments_;
  // The communicator that the program passed. Calls on an intercommunicator run on the communicator of both groups.
  Communicator* communicator_;
  // Whether this rank has a send side, and a receive side. At the root of one group's gather both are true.
  bool sends_ = true;
  bool receives_ = true;
  // This rank's own block is in place already, so it is not copied.
  bool own_in_place_ = false;
  // The peer of each block; negative: none (MPI_PROC_NULL).
  std::vector<int> destinations_, sources_;
  // The rank of the first peer in the communicator of both groups.
  int first_peer_ = 0;
  // The blocks of both sides; one block if all peers get the same.
  Blocks sent_, received_;

  // A copy of one of this rank's own blocks.
  struct Copy {
    portals::Region from, to;
  };
  // Blocks of this rank to itself.
  std::vector<Copy> own_;
  // In the order of the exchange, at most one to and one from each peer; their regions refer to the program's memory,
  // to bundles, or to staging_.
  std::vector<PeerMessage> out_, in_;
  // Several blocks for, or from, one neighbor, sent as one message in their order. If they are long together, and each
  // is contiguous, the blocks stay in the program's memory as pieces. Otherwise they are copied into a run, or out of
  // it.
  struct Bundle {
    // The pieces of a message that stays in the program's memory.
    std::vector<portals::Buffer> pieces;
    // The blocks of a message that is copied, in the program's memory.
    std::vector<portals::Region> blocks;
    // The copy of the blocks, one behind the other; null if there is no copy.
    std::unique_ptr<std::byte[]> run;
  };
  std::vector<Bundle> bundles_out_, bundles_in_;
  // The message for `several` blocks of one peer.
  [[nodiscard]] PeerMessage bundled(std::span<const PeerMessage> several, std::vector<Bundle>& bundles);
  // Copies of the blocks that an all-to-all with MPI_IN_PLACE sends, because received blocks replace them. Null for
  // other calls.
  std::unique_ptr<std::byte[]> staging_;
};

// The bodies of bindings that move blocks: blocking, and nonblocking or persistent.

// Each returns what the binding returns. The blocking form keeps its BlockMove on the stack; the other makes a request
// that owns it.
inline int move(Call& call, const MoveArguments& arguments) {
  return perform_checked<BlockMove>(call, arguments);
}
inline int move(Call& call, Form form, const MoveArguments& arguments, MPI_Request* request) {
  return give_request<BlockMove, CheckedTask<BlockMove>>(call, form, arguments, request);
}

}  // namespace margay::mpi
