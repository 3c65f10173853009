// The collective calls as algorithms get them: an operation and its data. bytes(): the length by which the call is
// judged, of one rank's data; of blocks: of one block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/cost/facts.hpp"
#include "collectives/op/reducer.hpp"
#include "portals/base/region.hpp"

namespace margay::collectives {

// Of calls that have no root, who does what one rank does.
inline constexpr int kTop = 0;

struct BarrierCall {
  [[nodiscard]] static constexpr Operation operation() { return Operation::barrier; }
  [[nodiscard]] static constexpr std::uint64_t bytes() { return 0; }
};

// As bcast_tree.
struct BcastCall {
  int root = 0;
  portals::Region data = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::bcast; }
  [[nodiscard]] std::uint64_t bytes() const { return data.bytes(); }
};

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result (reduce: at the root,
// elsewhere it is used up). The order of ranks is kept unless the operation commutes. An element has bytes.
struct Reduction {
  std::byte* partial = nullptr;
  std::size_t count = 0;
  std::size_t element_bytes = 0;
  Reducer combine = nullptr;
  [[nodiscard]] std::uint64_t bytes() const { return count * element_bytes; }
  [[nodiscard]] portals::Region row() const { return portals::Region(partial, bytes()); }
};

struct ReduceCall {
  int root = 0;
  Reduction reduction = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::reduce; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// Every member ends with the same bits.
struct AllreduceCall {
  Reduction reduction = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::allreduce; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// As gather_tree.
struct GatherCall {
  int root = 0;
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  std::byte* all = nullptr;
  [[nodiscard]] static constexpr Operation operation() { return Operation::gather; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// Of a gather, and everybody gets `all`.
struct AllgatherCall {
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  std::byte* all = nullptr;
  [[nodiscard]] static constexpr Operation operation() { return Operation::allgather; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// As scatter_tree.
struct ScatterCall {
  int root = 0;
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  portals::Region all = {};
  [[nodiscard]] static constexpr Operation operation() { return Operation::scatter; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// All that goes between this rank and another one, one way.
struct PeerMessage {
  int peer = -1;  // -1: there is none
  portals::Region data = {};
  // With no bytes, which both sides know, no message is sent.
  [[nodiscard]] bool moves() const { return peer >= 0 && data.bytes() != 0; }
};

// A block of `block_bytes` for each other rank, and one from each; what the spans refer to stays until the end.
struct AlltoallCall {
  std::span<const PeerMessage> out = {};
  std::span<const PeerMessage> in = {};
  std::uint64_t block_bytes = 0;
  // Whether this rank's blocks have that length.
  [[nodiscard]] bool is_even() const {
    const auto fits = [this](const PeerMessage& block) { return block.data.bytes() == block_bytes; };
    return std::ranges::all_of(out, fits) && std::ranges::all_of(in, fits);
  }
  [[nodiscard]] static constexpr Operation operation() { return Operation::alltoall; }
  [[nodiscard]] std::uint64_t bytes() const { return block_bytes; }
};

// The result's blocks are of `block_lengths[rank]` bytes, one behind the other; this rank's ends up where it has its
// place in `partial`. The order of ranks is kept unless the operation commutes.
struct ReduceScatterCall {
  Reduction reduction = {};
  std::span<const std::uint64_t> block_lengths = {};
  [[nodiscard]] std::uint64_t block_bytes(int rank) const { return block_lengths[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] static constexpr Operation operation() { return Operation::reduce_scatter; }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

// What the ranks up to this one come to, or exclusive: those before it, and rank 0's part is used up.
enum class ScanKind : std::uint8_t { inclusive, exclusive };
// As scan_exchange.
struct ScanCall {
  ScanKind kind = ScanKind::inclusive;
  Reduction reduction = {};
  [[nodiscard]] Operation operation() const {
    return kind == ScanKind::inclusive ? Operation::scan : Operation::exscan;
  }
  [[nodiscard]] std::uint64_t bytes() const { return reduction.bytes(); }
};

}  // namespace margay::collectives
