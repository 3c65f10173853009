// Bounds and thresholds that several folders of the simulated machine share, each with its reason. Those of one file
// are in that file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::sim {

// The length of a cache line on all processors that margay runs on; layouts in shared memory depend on it.
inline constexpr std::size_t kCacheLineBytes = 64;

// The longest body of a short message. Its header and body travel together, and the receiver's heap buffers them when
// they are unexpected. A longer message uses the long protocol: it requests an acknowledgment, and the body stays with
// the sender until a receive is posted. In a node, a body up to this limit is faster when it is copied whole into the
// byte ring than in chunks or by a system call that reads it (16 KiB: 2.31 us whole, 2.87 us in chunks, 3.5 us read).
// Over TCP, the request costs a round trip of 8 us; copying 64 KiB into the heap and out of it takes as long.
inline constexpr std::size_t kShortLimitBytesShm = std::size_t{16} * 1024;
inline constexpr std::size_t kShortLimitBytesTcp = std::size_t{64} * 1024;
static_assert(kShortLimitBytesShm <= kShortLimitBytesTcp);

// The heap of unexpected messages: room for a thousand of the longest short ones. Sparse: pages are allocated when
// touched.
inline constexpr std::size_t kHeapBytes = 64ULL << 20;
static_assert(kHeapBytes >= 16 * kShortLimitBytesTcp);

// The longest message. A long message has one frame header, so its length is bounded only by a 63-bit count.
inline constexpr std::uint64_t kMessageLimitBytes = 1ULL << 62;

// The most ranks of a job: match bits have 16 bits for the source rank.
inline constexpr std::uint32_t kRanksMax = 65536;

// The most ranks that are threads of one process (`margay run --threads`). Each of them maps its node's segment, which
// for 1024 ranks takes 156 GB of addresses: 40 TB together, of the 128 TB that a process has.
inline constexpr std::uint32_t kThreadRanksMax = 256;

// The smallest heap that a run may set. --heap sets the heap of a run, --short-limit its short limit.
inline constexpr std::size_t kHeapBytesMin = std::size_t{64} * 1024;
// The highest short limit: a short message must fit in an empty heap, or it would be held on its wire for ever.
inline constexpr std::uint64_t short_limit_max(std::uint64_t heap_bytes) {
  return heap_bytes / 4;
}

// The time without progress after which a waiting process rings the bell of the rank that it waits for, which may be
// computing. Ten times the time in which a peer that does not compute answers a short message over TCP, because a ring
// costs a system call here and a wake-up there.
inline constexpr std::uint64_t kNudgeAfterNs = 50'000;
// The time without work after which a waiting process sleeps instead of spinning or yielding. It is chosen so that the
// wake-up, less than 0.1 ms, takes less than a hundredth of the wait.
inline constexpr std::uint64_t kSleepAfterNs = 20'000'000;
// The time without progress after which a waiting process prints the rank that it waits for: longer than programs
// usually compute between two messages, shorter than people wait before they ask. --stall sets it.
inline constexpr std::uint64_t kStallReportNs = 30'000'000'000ULL;

// Bounds of the arena of the memory that a rank allocates for its node (sim/machine/shared_heap). An arena's size is a
// multiple of the machine's memory, within these bounds; it reserves addresses, not memory. The largest arenas of four
// ranks fit in the addresses of a process (2^47).
inline constexpr std::uint64_t kHeapArenaBytesMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kHeapArenaBytesMax = std::uint64_t{1} << 44;
// Allocations up to this do not test whether the machine has the memory, because the test takes as long as touching 1
// MiB.
inline constexpr std::uint64_t kMemoryUncheckedBytes = std::uint64_t{64} << 20;
// The most pieces of the heap that core dumps include and that may have huge pages. Each scattered piece may split the
// arena's mapping into up to four mappings, and a process may have 65,530 mappings.
inline constexpr std::size_t kHeapAdvisedPieces = 4096;
// The least part of a peer's arena that is mapped at once, in addresses and not memory: room for thousands of small
// windows.
inline constexpr std::uint64_t kPeerRangeBytes = std::uint64_t{64} << 20;

}  // namespace margay::sim
