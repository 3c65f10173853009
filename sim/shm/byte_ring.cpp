#include "sim/shm/byte_ring.hpp"

#include <algorithm>
#include <cstring>

#include "portals/base/assert.hpp"
#include "sim/shm/cache_hints.hpp"

namespace margay::sim {
namespace {

// Bytes prefetched for the next body: as many as a short body has.
constexpr std::size_t kPreparedBytes = std::size_t{16} * 1024;
// Bytes of the next body prefetched while the last one is processed: as many lines as can be in flight at once.
constexpr std::size_t kFetchedBytes = 2048;

}  // namespace

void ByteProducer::refresh() {
  // Acquire: pairs with the release in ByteConsumer::settle, see there.
  const std::uint64_t consumed = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->bytes_consumed))
                                     .load(std::memory_order_acquire);
  const std::uint64_t held = produced_ - consumed;
  // A damaged count must not make us write beyond the ring.
  credit_ = held <= bytes_.size() ? bytes_.size() - static_cast<std::size_t>(held) : 0;
}

void ByteProducer::write(portals::RegionCursor& body, std::size_t count) {
  MARGAY_ASSERT(count <= credit_);
  const std::size_t at = static_cast<std::size_t>(produced_) & (bytes_.size() - 1);
  const std::size_t first = std::min(count, bytes_.size() - at);
  body.read(bytes_.subspan(at, first));
  if (first < count) body.read(bytes_.first(count - first));
  advance(count);
}

void ByteProducer::write(std::span<const std::byte> body) {
  MARGAY_ASSERT(body.size() <= credit_);
  const std::size_t at = static_cast<std::size_t>(produced_) & (bytes_.size() - 1);
  const std::size_t first = std::min(body.size(), bytes_.size() - at);
  std::memcpy(bytes_.data() + at, body.data(), first);
  if (first < body.size()) std::memcpy(bytes_.data(), body.data() + first, body.size() - first);
  advance(body.size());
}

// Returns whole lines, up to the ring's end only, because a part that wraps is not worth a second piece.
std::span<std::byte> ByteProducer::lines(std::uint64_t from, std::size_t count) const {
  const std::size_t at = static_cast<std::size_t>(from) & (bytes_.size() - 1) & ~(kCacheLineBytes - 1);
  return bytes_.subspan(at, std::min(count, bytes_.size() - at));
}

void ByteProducer::hint_caches(std::size_t count) {
  MARGAY_DEBUG_ASSERT(count <= produced_);
  hand_over_lines(lines(produced_ - count, count));
}

void ByteProducer::prepare(std::size_t count) {
  own_lines(lines(produced_ + kCacheLineBytes - 1, std::min({count, kPreparedBytes, credit_})));
}

void ByteConsumer::refresh() {
  // Acquire: pairs with the release in ByteProducer::publish, see there.
  const std::uint64_t produced = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->bytes_produced))
                                     .load(std::memory_order_acquire);
  // The count in the producer's line lags behind while cells announce the bodies (invariant 2), so it may be below
  // consumed_, and `ahead` wraps. Such a count is ignored, as a damaged one is.
  const std::uint64_t ahead = produced - consumed_;
  if (ahead <= bytes_.size()) known_ = produced;
}

void ByteConsumer::expect(std::size_t count) {
  MARGAY_ASSERT(count <= bytes_.size());
  known_ = std::max(known_, consumed_ + count);
}

ByteConsumer::Pieces ByteConsumer::peek(std::size_t count) const {
  MARGAY_ASSERT(count <= known_ - consumed_);
  const std::size_t at = static_cast<std::size_t>(consumed_) & (bytes_.size() - 1);
  const std::size_t first = std::min(count, bytes_.size() - at);
  return {bytes_.subspan(at, first), bytes_.first(count - first)};
}

void ByteConsumer::fetch(std::size_t count) const {
  const std::size_t at = static_cast<std::size_t>(consumed_) & (bytes_.size() - 1) & ~(kCacheLineBytes - 1);
  fetch_lines(bytes_.subspan(at, std::min({count, kFetchedBytes, bytes_.size() - at})));
}

void ByteConsumer::read(portals::RegionCursor& landing, std::size_t count) {
  MARGAY_DEBUG_ASSERT(count <= landing.left());
  const Pieces pieces = peek(count);
  landing.write(pieces.first);
  if (!pieces.second.empty()) landing.write(pieces.second);
}

}  // namespace margay::sim
