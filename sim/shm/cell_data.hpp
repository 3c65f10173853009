// The shared memory of a channel (one ordered pair of ranks); the roles in cell_ring.hpp and byte_ring.hpp give it
// meaning. Trivially copyable, no pointers; all zero is an empty channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"

namespace margay::sim {

// A cell of the ring, one cache line. The low byte of its first word is the lap: a producer on lap n (from 0) writes n
// + 1, modulo 256, so zero pages are a ring in which nothing has been written.
struct alignas(kCacheLineBytes) Cell {
  std::array<std::uint64_t, 8> words{};
};
static_assert(sizeof(Cell) == kCacheLineBytes && alignof(Cell) == kCacheLineBytes);

// Together with the three lines below, the cells fill two pages exactly.
inline constexpr std::uint32_t kCellCount = 125;
// A power of two, so that positions are masked.
inline constexpr std::size_t kByteRingBytes = std::size_t{128} * 1024;
static_assert((kByteRingBytes & (kByteRingBytes - 1)) == 0);

// The offer of a body for reading: the consumer reads it out of the producer's memory (process_vm_readv). The offer is
// in the cell of the body's message, after the head; read_offer.hpp gives it meaning.
struct ReadOffer {
  // Address in the producer's memory: of the body or, if it has several pieces, of their table (portals::Buffer).
  std::uint64_t address = 0;
  // Number of pieces.
  std::uint64_t count = 0;
};
static_assert(sizeof(ReadOffer) == 16);

// Written by the producer only.
struct alignas(kCacheLineBytes) ProducerLine {
  // Bytes put in the byte ring since the beginning. Lags behind when bodies are announced by their cell, which does not
  // change this count.
  std::uint64_t bytes_produced = 0;
  // The producer's report of the chunks that it has written of the offered body (shared_body.hpp).
  std::uint64_t carried = 0;
};
// Written by the consumer only.
struct alignas(kCacheLineBytes) ConsumerLine {
  // Cells, and bytes of the byte ring, consumed since the beginning.
  std::uint64_t cells_consumed = 0;
  std::uint64_t bytes_consumed = 0;
  // Number of an offer << 2 | the answer to it; all offers before it are over.
  std::uint64_t read_answer = 0;
  // The preferred method of long bodies, two bits for each size class; a hint.
  std::uint64_t preferences = 0;
  // Number of polls that have read a part of an offered body, which shows the producer that the consumer proceeds; a
  // hint.
  std::uint64_t read_visits = 0;
  // The address, in the consumer's memory, of the offered body's landing (shared_body.hpp). The producer passes it to
  // the operating system and never dereferences it.
  std::uint64_t landing = 0;
};
// Written by both: the claims to parts of the offered body (shared_body.hpp).
struct alignas(kCacheLineBytes) SharedLine {
  // The consumer sets it when it opens and closes a body; in between both sides change it by compare-and-swap.
  std::uint64_t claims = 0;
};

// A channel. Each side writes a line of its own, so that a reader that polls one line does not slow the writer of the
// other. There is a channel for each ordered pair of a node's ranks. In a sparse segment it takes memory only once it
// is used.
struct ChannelData {
  ProducerLine producer;
  ConsumerLine consumer;
  SharedLine shared;
  std::array<Cell, kCellCount> cells;
  std::array<std::byte, kByteRingBytes> bytes;
};
static_assert(std::is_trivially_copyable_v<ChannelData>);
static_assert(offsetof(ChannelData, consumer) == 64 && offsetof(ChannelData, cells) == 192);
static_assert(offsetof(ChannelData, bytes) == 8192 && sizeof(ChannelData) == 8192 + kByteRingBytes);

}  // namespace margay::sim
