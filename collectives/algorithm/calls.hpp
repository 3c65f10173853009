// The arguments of collective calls as algorithms receive them, one struct for each operation. operation() names it;
// bytes() is the length by which the algorithm is chosen: of one rank's data, or of one block. Views: the caller's
// memory outlives the call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/cost/facts.hpp"
#include "collectives/op/reducer.hpp"
#include "portals/base/region.hpp"

namespace margay::collectives {

// The rank that does the work of a root in operations that have no root: rank 0, because every communicator has it.
inline constexpr int kTop = 0;

// A barrier, which has no data.
struct BarrierCall {
  [[nodiscard]] static constexpr Operation operation() { return Operation::barrier; }
  [[nodiscard]] static constexpr std::uint64_t bytes() { return 0; }
};

// A broadcast; see bcast_tree. `data`: sent from the root, filled elsewhere.
// The same number of bytes on every rank; otherwise the call fails with MPI_ERR_TRUNCATE.
struct BcastCall {
  int root = 0;
  portals::Region data = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::bcast; }
  [[nodiscard]] std::uint64_t bytes() const { return data.bytes(); }
};

// The data of a reduction: a vector of elements. `partial`: this rank's vector, `count` elements of `element_bytes`,
// which becomes the result (of a reduce at the root; elsewhere it is unspecified afterwards). The order of ranks is
// kept unless the operation commutes. element_bytes > 0 unless the data is empty.
struct Reduction {
  std::byte* partial = nullptr;
  // Elements, not bytes; the algorithms cut between elements only.
  std::size_t count = 0;
  // Bytes of one element in the vector, where elements are packed.
  std::size_t element_bytes = 0;
  // Null where there is nothing to combine (empty data).
  Reducer combine = nullptr;
  // Bytes of the vector, and of each message that carries all of it.
  [[nodiscard]] std::uint64_t bytes() const { return count * element_bytes; }
  // The vector as a region, for messages.
  [[nodiscard]] portals::Region region() const { return portals::Region(partial, bytes()); }
};

// A reduction to one rank; see reduce_tree. The roots of all members must be equal.
struct ReduceCall {
  int root = 0;
  Reduction reduction = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::reduce; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// An allreduce; see allreduce_exchange. Every member gets the same bits.
struct AllreduceCall {
  Reduction reduction = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::allreduce; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// A gather; see gather_tree. `block_bytes`: the length of every rank's block. `mine`: this rank's block; `all`: every
// rank's, at the root.
struct GatherCall {
  int root = 0;
  // May lie at its place in `all` already (MPI_IN_PLACE); put_own_block() then copies nothing.
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  // size() * block_bytes bytes at the root; not used elsewhere.
  std::byte* all = nullptr;
  [[nodiscard]] static constexpr Operation operation() { return Operation::gather; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// A gather after which every rank has `all`. `all`: filled on every rank, in the order of ranks.
struct AllgatherCall {
  // As in GatherCall, on every rank.
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  std::byte* all = nullptr;
  [[nodiscard]] static constexpr Operation operation() { return Operation::allgather; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// A scatter; see scatter_tree. `all`: at the root only, blocks of `block_bytes` in the order of ranks.
struct ScatterCall {
  int root = 0;
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  portals::Region all = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::scatter; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// All data that goes between this rank and another one in one direction.
struct PeerMessage {
  int peer = -1;  // -1: none
  portals::Region data = {};
  // Whether a message is sent. Empty data is not sent, because both sides have its length.
  [[nodiscard]] bool moves() const { return peer >= 0 && data.bytes() != 0; }
};

// An alltoall: a block of `block_bytes` for each other rank, and one from each. The spans outlive the call.
struct AlltoallCall {
  std::span<const PeerMessage> out = {};
  std::span<const PeerMessage> in = {};
  std::uint64_t block_bytes = 0;
  // Whether all of this rank's blocks have that length. Calls through shared memory need that, because each rank
  // computes where the others' blocks lie.
  [[nodiscard]] bool is_even() const {
    const auto fits = [this](const PeerMessage& block) { return block.data.bytes() == block_bytes; };
    return std::ranges::all_of(out, fits) && std::ranges::all_of(in, fits);
  }
  [[nodiscard]] static constexpr Operation operation() { return Operation::alltoall; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// A reduce-scatter: the result's consecutive blocks have `block_lengths[rank]` bytes; this rank's ends up at its place
// in `partial`. The order of ranks is kept unless the operation commutes.
struct ReduceScatterCall {
  Reduction reduction = {};
  std::span<const std::uint64_t> block_lengths = {};
  [[nodiscard]] std::uint64_t block_bytes(int rank) const { return block_lengths[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] static constexpr Operation operation() { return Operation::reduce_scatter; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// Whether this rank's own part is in its result (MPI_Scan) or not (MPI_Exscan).
enum class ScanKind : std::uint8_t { inclusive, exclusive };
// A scan; see scan_exchange.
struct ScanCall {
  ScanKind kind = ScanKind::inclusive;
  Reduction reduction = {};
  [[nodiscard]] Operation operation() const {
    return kind == ScanKind::inclusive ? Operation::scan : Operation::exscan;
  }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

}  // namespace margay::collectives
