// Every named bound and threshold of the simulated machine, with what it rests on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::sim {

inline constexpr std::size_t kCacheLineBytes = 64;

// Bodies up to this many bytes are short messages: header and body, buffered in the receiver's heap when unexpected.
// Above, the long protocol asks for an acknowledgment and its body stays with the sender until a receive is posted.
inline constexpr std::size_t kShortLimitBytesShm = std::size_t{16} * 1024;
inline constexpr std::size_t kShortLimitBytesTcp = std::size_t{64} * 1024;
static_assert(kShortLimitBytesShm <= kShortLimitBytesTcp);

// The dynamic block's heap of unexpected messages. Sparse: pages come when touched.
inline constexpr std::size_t kHeapBytes = 64ULL << 20;
static_assert(kHeapBytes >= 16 * kShortLimitBytesTcp);

// A long message has one frame header, so its length is bounded only by what a 63-bit count can say.
inline constexpr std::uint64_t kMessageLimitBytes = 1ULL << 62;

// Ranks in one job; match bits hold 16 bits of source rank.
inline constexpr std::uint32_t kRanksMax = 65536;

// The short limit and the heap can be set per run (--short-limit, --heap); these are the smallest that make sense.
inline constexpr std::size_t kHeapBytesMin = std::size_t{64} * 1024;

// Without progress for this long, a waiting process rings the bell of the one it waits for (it may be computing).
inline constexpr std::uint64_t kNudgeAfterNs = 50'000;
// Without work for this long, a waiting process sleeps instead of spinning or yielding.
inline constexpr std::uint64_t kSleepAfterNs = 20'000'000;
// Without progress for this long, a waiting process prints whom it waits for.
inline constexpr std::uint64_t kStallReportNs = 30'000'000'000ULL;

}  // namespace margay::sim
