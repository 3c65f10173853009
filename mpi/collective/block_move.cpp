#include "mpi/collective/block_move.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <variant>

#include "mpi/collective/check_call.hpp"
#include "mpi_adi/object/topology.hpp"

namespace margay::mpi {

using portals::Region;

namespace {

bool is_neighborly(Move operation) {
  return operation == Move::neighbor_allgather || operation == Move::neighbor_alltoall;
}

// The neighbors of a rank in a topology, in the order of MPI 4.0, 8.6; MPI_PROC_NULL where a grid ends.
struct Neighbors {
  std::vector<int>& sources;
  std::vector<int>& destinations;
};

// In each direction first the neighbor with the lower coordinate, then the higher (MPI 4.0, 8.6).
void find_neighbors(const CartTopology& grid, int rank, Neighbors found) {
  found.sources.reserve(2 * static_cast<std::size_t>(grid.ndims()));
  for (int direction = 0; direction < grid.ndims(); ++direction) {
    for (const int displacement : {-1, 1}) found.sources.push_back(grid.shifted(rank, direction, displacement));
  }
  found.destinations = found.sources;
}

void find_neighbors(const GraphTopology& graph, int rank, Neighbors found) {
  const std::span<const int> all = graph.neighbors(rank);
  found.sources.assign(all.begin(), all.end());
  found.destinations = found.sources;
}

void find_neighbors(const DistGraphTopology& graph, int /*rank*/, Neighbors found) {
  found.sources = graph.sources;
  found.destinations = graph.destinations;
}

portals::Buffer first_piece(const Region& region) {
  return portals::RegionCursor(region).peek(region.bytes());
}

// Joins pieces that follow each other, as each costs an entry of the descriptor.
void add_piece(std::vector<portals::Buffer>& pieces, const portals::Buffer& piece) {
  if (piece.bytes == 0) return;
  if (!pieces.empty() && pieces.back().base + pieces.back().bytes == piece.base) {
    pieces.back().bytes += piece.bytes;
  } else {
    pieces.push_back(piece);
  }
}

// The memory of all blocks that have a peer, sorted by address. `peers`: a peer for each block, or all peers of a
// single block.
std::vector<portals::Buffer> pieces_of(const Blocks& blocks, const std::vector<int>& peers) {
  std::vector<portals::Buffer> pieces;
  for (int at = 0; at < blocks.size(); ++at) {
    const auto slot = static_cast<std::size_t>(at);
    if (slot < peers.size() && blocks.size() > 1 && peers[slot] < 0) continue;
    for (portals::RegionCursor cursor(blocks[at]); cursor.left() != 0;) {
      pieces.push_back(cursor.peek(cursor.left()));
      cursor.skip(pieces.back().bytes);
    }
  }
  // std::less, because operators on pointers into different arrays define no order.
  std::ranges::sort(pieces, std::less(), &portals::Buffer::base);
  return pieces;
}

// Whether two sets of pieces overlap. Requires: both sorted by address.
bool overlap(std::span<const portals::Buffer> first, std::span<const portals::Buffer> second) {
  // The largest end of each set so far, because blocks to be sent may overlap each other.
  const std::byte* first_end = nullptr;
  const std::byte* second_end = nullptr;
  while (!first.empty() || !second.empty()) {
    const bool from_first = second.empty() || (!first.empty() && first.front().base <= second.front().base);
    std::span<const portals::Buffer>& from = from_first ? first : second;
    const portals::Buffer piece = from.front();
    from = from.subspan(1);
    if (piece.base < (from_first ? second_end : first_end)) return true;
    const std::byte*& end = from_first ? first_end : second_end;
    end = std::max<const std::byte*>(end, piece.base + piece.bytes);
  }
  return false;
}

}  // namespace

// Each step relies on those before it: peers, MPI_IN_PLACE, blocks, messages, overlap.
BlockMove::BlockMove(Call& call, const MoveArguments& arguments)
    : arguments_(arguments), communicator_(call.communicator(arguments.comm)) {
  if (!call.ok()) return;
  if (is_neighborly(arguments.operation) && communicator_->is_inter()) {
    call.error(MPI_ERR_COMM, "the communicator is an intercommunicator, which has no topology");
  }
  if (rooted()) call.root(communicator_, arguments.root);
  if (!call.ok()) return;
  find_sides(call);
  if (call.ok()) check_in_place(call);
  if (call.ok()) check_blocks(call);
  if (!call.ok()) return;
  plan_messages();
  check_apart(call);
  if (call.ok() && calls_are_checked(call)) [[unlikely]]
    report_shares(call);
}

bool BlockMove::rooted() const {
  return arguments_.operation == Move::gather || arguments_.operation == Move::scatter;
}

bool BlockMove::is_even() const {
  return arguments_.send.sort == BlockArguments::Sort::even && arguments_.receive.sort == BlockArguments::Sort::even &&
         !is_neighborly(arguments_.operation) && !communicator_->is_inter();
}

bool BlockMove::sends_each() const {
  return arguments_.operation == Move::scatter || arguments_.operation == Move::alltoall ||
         arguments_.operation == Move::neighbor_alltoall;
}

// Without a root every rank sends to all peers and receives from all.
void BlockMove::find_sides(Call& call) {
  const Communicator& communicator = *communicator_;
  // If this group is the first in the communicator of both groups, its peers follow.
  if (communicator.is_inter() && communicator.both->rank() == communicator.rank()) first_peer_ = communicator.size();
  if (is_neighborly(arguments_.operation)) {
    if (communicator.topology == nullptr) {
      return call.error(MPI_ERR_TOPOLOGY,
                        "the communicator has no Cartesian, graph or distributed graph topology, and so no neighbors");
    }
    std::visit(
        [&](const auto& is) {
          find_neighbors(is, communicator.rank(), {sources_, destinations_});
        },
        communicator.topology->is);
    return;
  }
  if (rooted()) return find_rooted_sides();
  destinations_.resize(static_cast<std::size_t>(communicator.peer_count()));
  std::iota(destinations_.begin(), destinations_.end(), 0);
  sources_ = destinations_;
}

// On an intercommunicator one group has the root, and the other ranks of that group take no part.
void BlockMove::find_rooted_sides() {
  const Communicator& communicator = *communicator_;
  const int root = arguments_.root;
  const bool is_root = communicator.is_inter() ? root == MPI_ROOT : root == communicator.rank();
  const bool is_leaf = !communicator.is_inter() || root >= 0;
  const bool gathers = arguments_.operation == Move::gather;
  sends_ = gathers ? is_leaf : is_root;
  receives_ = gathers ? is_root : is_leaf;
  std::vector<int>& of_root = gathers ? sources_ : destinations_;
  if (is_root) {
    of_root.resize(static_cast<std::size_t>(communicator.peer_count()));
    std::iota(of_root.begin(), of_root.end(), 0);
  }
  if (is_leaf) (gathers ? destinations_ : sources_).push_back(root);
}

// MPI_IN_PLACE stands for the send buffer, but at a scatter's root for the receive buffer (MPI 4.0, 6.2).
void BlockMove::check_in_place(Call& call) {
  const bool intra = !communicator_->is_inter() && !is_neighborly(arguments_.operation);
  const bool root = rooted() && arguments_.root == communicator_->rank();
  const auto refuse = [&](const char* side) {
    call.error(MPI_ERR_BUFFER, std::string(side) + " is MPI_IN_PLACE; " +
                                   (!intra     ? "that is for one group's collectives only"
                                    : rooted() ? "that is for the root only"
                                               : "that stands for the send buffer"));
  };
  if (sends_ && arguments_.send.in_place()) {
    if (!intra || arguments_.operation == Move::scatter || (rooted() && !root)) return refuse("the send buffer");
    own_in_place_ = true;
  }
  if (receives_ && arguments_.receive.in_place()) {
    if (!intra || arguments_.operation != Move::scatter || !root) return refuse("the receive buffer");
    own_in_place_ = true;
  }
}

// A rank that sends the same block to all peers has one block.
void BlockMove::check_blocks(Call& call) {
  const BlockArguments& send = arguments_.send;
  const BlockArguments& receive = arguments_.receive;
  if (sends_ && !send.in_place()) {
    const auto receivers = static_cast<int>(destinations_.size());
    sent_.check(call, send, sends_each() ? receivers : std::min(receivers, 1), Side::send);
  }
  if (receives_ && !receive.in_place()) {
    const bool each = arguments_.operation != Move::scatter;
    received_.check(call, receive, each ? static_cast<int>(sources_.size()) : 1, Side::receive);
  }
}

// If both buffers begin at one address, all blocks are compared, because displacements and datatypes may lead apart.
// Otherwise only this rank's own block is compared: the usual mistake is to send it from the memory into which it is
// received.
void BlockMove::check_apart(Call& call) const {
  if (!sends_ || !receives_ || arguments_.send.in_place() || arguments_.receive.in_place()) return;
  const auto is_where_it_goes = [](const Copy& own) {
    const portals::Buffer from = first_piece(own.from), to = first_piece(own.to);
    return from.base < to.base + to.bytes && to.base < from.base + from.bytes;
  };
  const bool any = arguments_.send.buffer == arguments_.receive.buffer
                       ? overlap(pieces_of(sent_, destinations_), pieces_of(received_, sources_))
                       : std::ranges::any_of(own_, is_where_it_goes);
  if (!any) return;
  const bool may_be_in_place = !communicator_->is_inter() && !is_neighborly(arguments_.operation);
  const char* const side = arguments_.operation == Move::scatter ? "receive" : "send";
  call.error(MPI_ERR_BUFFER,
             "send and receive buffer overlap" +
                 (may_be_in_place ? std::string("; pass MPI_IN_PLACE for the ") + side + " buffer" : ""));
}

Region BlockMove::staged(int block) const {
  std::uint64_t before = 0;
  for (int at = 0; at < block; ++at) before += received_[at].bytes();
  return Region(staging_.get() + before, received_[block].bytes());
}

void BlockMove::plan_messages() {
  // Neighbors' lists may name a rank several times, or none.
  if (is_neighborly(arguments_.operation)) return plan_neighbors();
  // Between groups no block stays on its rank.
  const int me = communicator_->is_inter() ? -1 : communicator_->rank();
  const bool in_place = arguments_.send.in_place();
  // In place, received blocks replace the blocks to be sent, so copies of these are sent.
  const bool all_to_all = in_place && arguments_.operation == Move::alltoall;
  if (all_to_all) staging_ = std::make_unique_for_overwrite<std::byte[]>(received_.bytes());
  const auto sent_to = [&](int peer) {
    if (all_to_all) return staged(peer);
    if (in_place) return received_[me];
    return sent_[sends_each() ? peer : 0];
  };
  const auto received_from = [&](int peer) { return received_[arguments_.operation == Move::scatter ? 0 : peer]; };
  if (sends_ && receives_ && me >= 0 && !own_in_place_) own_.push_back({sent_to(me), received_from(me)});
  if (rooted()) {
    for (const int peer : destinations_) {
      if (peer != me) out_.push_back({everybodys(peer), sent_to(peer)});
    }
    for (const int peer : sources_) {
      if (peer != me) in_.push_back({everybodys(peer), received_from(peer)});
    }
    return;
  }
  // In step n every rank sends to the n-th rank after it, so no rank is the target of all ranks at once.
  const int peers = communicator_->peer_count();
  const int steps = std::max(communicator_->size(), peers);
  const int rank = communicator_->rank();
  out_.reserve(static_cast<std::size_t>(steps));
  in_.reserve(static_cast<std::size_t>(steps));
  for (int step = 0; step < steps; ++step) {
    const int to = (rank + step) % steps;
    const int from = (rank - step + steps) % steps;
    if (to == me) continue;
    // Groups of unequal sizes: some steps have no peer.
    out_.push_back(to < peers ? PeerMessage{everybodys(to), sent_to(to)} : PeerMessage{});
    in_.push_back(from < peers ? PeerMessage{everybodys(from), received_from(from)} : PeerMessage{});
  }
}

// If the blocks are long together, and each is contiguous, they stay where they are, as pieces of one message.
// Otherwise they are copied into a run.
PeerMessage BlockMove::bundled(std::span<const PeerMessage> several, std::vector<Bundle>& bundles) {
  const int peer = several.front().peer;
  if (several.size() == 1) return several.front();
  std::uint64_t bytes = 0;
  bool in_pieces = true;
  for (const PeerMessage& block : several) {
    bytes += block.data.bytes();
    in_pieces = in_pieces && block.data.contiguous();
  }
  Bundle& bundle = bundles.emplace_back();
  // A copy costs more than naming the pieces only if the data is long.
  if (bytes > kHandshakeBytes && in_pieces) {
    for (const PeerMessage& block : several) add_piece(bundle.pieces, block.data.single());
    return {peer, Region(std::span<const portals::Buffer>(bundle.pieces))};
  }
  for (const PeerMessage& block : several) bundle.blocks.push_back(block.data);
  bundle.run = std::make_unique_for_overwrite<std::byte[]>(bytes);
  return {peer, Region(bundle.run.get(), bytes)};
}

bool BlockMove::other_side_first() const {
  return is_neighborly(arguments_.operation) && std::holds_alternative<CartTopology>(communicator_->topology->is);
}

// A rank may be a neighbor several times, and a neighbor of itself. Between two ranks, the n-th block sent matches the
// n-th block expected.
void BlockMove::plan_neighbors() {
  // Groups the blocks of one rank, in their order: they travel as one message.
  const auto by_peer = [](std::vector<PeerMessage>& blocks) {
    std::ranges::stable_sort(blocks, {}, &PeerMessage::peer);
  };
  std::vector<PeerMessage> to, from;
  to.reserve(destinations_.size());
  from.reserve(sources_.size());
  for (std::size_t at = 0; at < destinations_.size(); ++at) {
    if (destinations_[at] < 0) continue;
    to.push_back({destinations_[at], sent_[sends_each() ? static_cast<int>(at) : 0]});
  }
  const std::size_t other_side = other_side_first() ? 1 : 0;
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const std::size_t at = n ^ other_side;
    if (sources_[at] >= 0) from.push_back({sources_[at], received_[static_cast<int>(at)]});
  }
  by_peer(to);
  by_peer(from);
  out_.reserve(to.size());
  in_.reserve(from.size());
  const auto of = [](std::span<const PeerMessage> blocks) {
    std::size_t count = 1;
    while (count < blocks.size() && blocks[count].peer == blocks.front().peer) ++count;
    return blocks.first(count);
  };
  const int me = communicator_->rank();
  std::span<const PeerMessage> own_to, own_from;
  for (std::span<const PeerMessage> left = to; !left.empty(); left = left.subspan(of(left).size())) {
    if (left.front().peer == me) {
      own_to = of(left);
    } else {
      out_.push_back(bundled(of(left), bundles_out_));
    }
  }
  for (std::span<const PeerMessage> left = from; !left.empty(); left = left.subspan(of(left).size())) {
    if (left.front().peer == me) {
      own_from = of(left);
    } else {
      in_.push_back(bundled(of(left), bundles_in_));
    }
  }
  for (std::size_t at = 0; at < std::min(own_to.size(), own_from.size()); ++at) {
    own_.push_back({own_to[at].data, own_from[at].data});
  }
}

// Each start of a persistent call copies anew.
void BlockMove::begin() {
  if (staging_ != nullptr) {
    std::byte* run = staging_.get();
    for (int at = 0; at < received_.size(); ++at) {
      portals::copy(Region(run, received_[at].bytes()), received_[at]);
      run += received_[at].bytes();
    }
  }
  for (const Bundle& bundle : bundles_out_) {
    std::byte* run = bundle.run.get();
    for (const Region& block : bundle.blocks) {
      portals::copy(Region(run, block.bytes()), block);
      run += block.bytes();
    }
  }
}

// The reverse of begin(), for received bundles.
void BlockMove::finish() const {
  for (const Bundle& bundle : bundles_in_) {
    std::byte* run = bundle.run.get();
    for (const Region& block : bundle.blocks) {
      portals::copy(block, Region(run, block.bytes()));
      run += block.bytes();
    }
  }
}

// All members must make the same plan, so only facts that all members have may influence it; `own` alone may differ.
Plan BlockMove::plan(const StandingFacts& standing) const {
  Shape shape;
  // Uneven blocks leave `bytes` 0: each member has other lengths.
  shape.operation = operation_number(arguments_.operation);
  if (rooted() && !communicator_->is_inter()) shape.root = static_cast<std::uint16_t>(arguments_.root);
  if (is_even()) shape.bytes = even_bytes();
  shape.algorithm = static_cast<std::uint8_t>(algorithm_of(standing, shape.bytes));
  OwnPart own = {.bytes = is_even() ? 0 : own_bytes()};
  if (rooted() && communicator_->is_inter()) own.root = arguments_.root;
  return {static_cast<Algorithm>(shape.algorithm), shape, own};
}

std::uint64_t BlockMove::even_bytes() const {
  return (sent_.size() > 0 ? sent_ : received_)[0].bytes();
}

std::uint64_t BlockMove::own_bytes() const {
  const Blocks& blocks = sent_.size() > 0 ? sent_ : received_;
  std::uint64_t sum = 0;
  for (int i = 0; i < blocks.size(); ++i) sum += blocks[i].bytes();
  return sum;
}

// Only facts that all members have determine the choice; the lengths of uneven blocks are no such facts.
Algorithm BlockMove::algorithm_of(const StandingFacts& standing, std::uint64_t bytes) const {
  if (is_even() && arguments_.operation == Move::alltoall) return standing.choose(Move::alltoall, bytes);
  return standing.facts.reads && !communicator_->is_inter() ? Algorithm::shared : Algorithm::direct;
}

Steps BlockMove::routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  for (const Copy& own : own_) put_own_block(collective, own.to, own.from);
  if (is_even() && arguments_.operation == Move::alltoall) {
    return routine_of(collectives::AlltoallCall{out_, in_, even_bytes()}, collective, standing, algorithm);
  }
  // An exchange with neighbors has no limit of messages at once: neighbors have no common order of messages, and a rank
  // that works in turns could wait for a message of another rank's later turn.
  return exchange(collective, algorithm == Algorithm::shared ? standing.team : nullptr, out_, in_,
                  is_neighborly(arguments_.operation) ? kAllAtOnce : kDirectAtOnce);
}

}  // namespace margay::mpi
