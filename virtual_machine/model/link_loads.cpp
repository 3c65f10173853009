#include "virtual_machine/model/link_loads.hpp"

#include <algorithm>
#include <bit>

#include "portals/base/assert.hpp"

namespace margay::virtual_machine {
namespace {

__extension__ using Wide = unsigned __int128;

static_assert(std::has_single_bit(LinkLoads::kFirstBucketNs));

// The bucket of this number. Searches from the end, because loads are added nearly in the order of time.
LinkLoads::Bucket& find_bucket(std::vector<LinkLoads::Bucket>& buckets, std::uint32_t number) {
  auto place = buckets.end();
  while (place != buckets.begin() && std::prev(place)->number >= number) --place;
  if (place == buckets.end() || place->number != number) place = buckets.insert(place, {.number = number});
  return *place;
}

// Joins buckets 0 and 1, 2 and 3, and so on.
void halve(std::vector<LinkLoads::Bucket>& buckets) {
  std::vector<LinkLoads::Bucket> joined;
  for (const LinkLoads::Bucket& bucket : buckets) {
    if (joined.empty() || joined.back().number != bucket.number / 2) joined.push_back({.number = bucket.number / 2});
    joined.back().bytes += bucket.bytes;
    joined.back().busy_ns += bucket.busy_ns;
    joined.back().blocked_ns += bucket.blocked_ns;
  }
  buckets = std::move(joined);
}

}  // namespace

LinkLoads::LinkLoads(std::span<const Counts> channels, std::uint64_t begin_ns)
    : begin_ns_(begin_ns), width_bits_(static_cast<std::uint32_t>(std::countr_zero(kFirstBucketNs))) {
  loads_.resize(channels.size());
  for (std::size_t network = 0; network < channels.size(); ++network)
    for (std::size_t kind = 0; kind < kChannelKinds; ++kind) loads_[network][kind].resize(channels[network][kind]);
}

const LinkLoads::Load& LinkLoads::load(const Place& place) const {
  return loads_[place.network][static_cast<std::size_t>(place.kind)][place.number];
}

void LinkLoads::record(const Place& place, const Crossing& crossing) {
  const auto [pair, head_ns, from_ns, to_ns, bytes] = crossing;
  MARGAY_DEBUG_ASSERT(begin_ns_ <= head_ns && head_ns <= from_ns && from_ns <= to_ns);
  while ((to_ns - begin_ns_) >> width_bits_ >= kBuckets) double_width();
  Load& load = loads_[place.network][static_cast<std::size_t>(place.kind)][place.number];
  ++load.messages;
  if (const std::uint64_t free_ns = enter(load, crossing); free_ns > head_ns)
    spread(load, head_ns, free_ns, free_ns - head_ns, &Bucket::blocked_ns);
  spread(load, from_ns, to_ns, to_ns - from_ns, &Bucket::busy_ns);
  spread(load, from_ns, to_ns, bytes, &Bucket::bytes);
}

std::uint64_t LinkLoads::enter(Load& load, const Crossing& crossing) {
  std::vector<Waiting>& queue = load.queue;
  const auto is_there = [&](const Waiting& one) { return one.to_ns > crossing.head_ns; };
  queue.erase(queue.begin(), std::find_if(queue.begin(), queue.end(), is_there));
  std::uint64_t free_ns = 0;
  std::uint32_t pairs = 1;
  load.most_at_once = std::max(load.most_at_once, pairs);
  // It is earlier than those that are there.
  if (!queue.empty() && crossing.to_ns < queue.back().to_ns) return 0;
  for (Waiting& one : queue) {
    if (one.pair == crossing.pair) {
      one.is_last_of_pair = false;
    } else {
      free_ns = one.to_ns;
      if (one.is_last_of_pair) ++pairs;
    }
  }
  queue.push_back({crossing.pair, crossing.to_ns, true});
  load.most_at_once = std::max(load.most_at_once, pairs);
  return free_ns;
}

// Each bucket gets the difference between the quantities up to its end and up to its beginning, so that the sum is
// exact.
void LinkLoads::spread(Load& load, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t quantity,
                       std::uint64_t Bucket::*member) const {
  if (quantity == 0) return;
  const auto bucket_at = [&](std::uint64_t ns) { return static_cast<std::uint32_t>((ns - begin_ns_) >> width_bits_); };
  std::uint64_t added = 0;
  for (std::uint32_t number = bucket_at(from_ns); added < quantity; ++number) {
    const std::uint64_t end_ns = begin_ns_ + ((std::uint64_t{number} + 1) << width_bits_);
    const std::uint64_t so_far =
        end_ns >= to_ns ? quantity
                        : static_cast<std::uint64_t>(Wide{quantity} * (end_ns - from_ns) / (to_ns - from_ns));
    if (so_far != added) find_bucket(load.buckets, number).*member += so_far - added;
    added = so_far;
  }
}

void LinkLoads::double_width() {
  ++width_bits_;
  for (auto& network : loads_)
    for (std::vector<Load>& kind : network)
      for (Load& load : kind) halve(load.buckets);
}

}  // namespace margay::virtual_machine
