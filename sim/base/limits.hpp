// Every named bound and threshold of the simulated machine, with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::sim {

inline constexpr std::size_t kCacheLineBytes = 64;

// Bodies up to this many bytes are short messages: header and body, buffered in the receiver's heap when unexpected.
// Above, the long protocol asks for an acknowledgment and its body stays with the sender until a receive is posted.
// In a node: up to here a body that is copied whole into the byte ring is faster than one in chunks, and than a read by
// a system call (16 KiB: 2.31 us whole, 2.87 us in chunks, 3.5 us read). Over TCP asking costs a way there and back, 8
// us, in which 64 KiB are copied into the heap and out of it.
inline constexpr std::size_t kShortLimitBytesShm = std::size_t{16} * 1024;
inline constexpr std::size_t kShortLimitBytesTcp = std::size_t{64} * 1024;
static_assert(kShortLimitBytesShm <= kShortLimitBytesTcp);

// The dynamic block's heap of unexpected messages: a thousand of the longest short ones. Sparse: pages come when
// touched.
inline constexpr std::size_t kHeapBytes = 64ULL << 20;
static_assert(kHeapBytes >= 16 * kShortLimitBytesTcp);

// A long message has one frame header, so its length is bounded only by what a 63-bit count can say.
inline constexpr std::uint64_t kMessageLimitBytes = 1ULL << 62;

// Ranks in one job; match bits hold 16 bits of source rank.
inline constexpr std::uint32_t kRanksMax = 65536;

// The short limit and the heap can be set per run (--short-limit, --heap); this is the smallest heap that holds a
// message.
inline constexpr std::size_t kHeapBytesMin = std::size_t{64} * 1024;
// The highest short limit: a short message must fit in an empty heap, or it would be held on its wire for ever.
inline constexpr std::uint64_t short_limit_max(std::uint64_t heap_bytes) {
  return heap_bytes / 4;
}

// Without progress for this long, a waiting process rings the bell of the one it waits for (it may be computing). Ten
// times what a peer that does not compute takes to answer a short message over TCP: a ring is a system call for the one
// and a wake-up for the other.
inline constexpr std::uint64_t kNudgeAfterNs = 50'000;
// Without work for this long, a waiting process sleeps instead of spinning or yielding: then the wake-up, less than 0.1
// ms, is less than a hundredth of the wait.
inline constexpr std::uint64_t kSleepAfterNs = 20'000'000;
// Without progress for this long, a waiting process prints whom it waits for: longer than programs compute between two
// messages as a rule, shorter than people wait before they ask. --stall sets it.
inline constexpr std::uint64_t kStallReportNs = 30'000'000'000ULL;

// The memory that a rank allocates for its node (sim/machine/shared_heap). Its arena's size bounds addresses, not
// memory: a multiple of the machine's memory, within these. Four ranks' of the largest fit the addresses of a process
// (2^47).
inline constexpr std::uint64_t kHeapArenaBytesMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kHeapArenaBytesMax = std::uint64_t{1} << 44;
// Memory up to here is allocated without asking whether the machine has so much left: asking takes as long as touching
// 1 MiB.
inline constexpr std::uint64_t kMemoryUncheckedBytes = std::uint64_t{64} << 20;
// Pieces of the heap that core dumps show and that may have huge pages: pieces that lie apart split the arena's mapping
// in up to four each, and a process has 65530.
inline constexpr std::size_t kHeapAdvisedPieces = 4096;
// The least of a peer's arena that is mapped at once, addresses and not memory: thousands of small windows.
inline constexpr std::uint64_t kPeerRangeBytes = std::uint64_t{64} << 20;

}  // namespace margay::sim
