// A benchmark of matching a message, by the number of posted entries or of queued messages (the number after the
// slash), and of the hot path: one posted receive. Times are per message.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/deliver.hpp"
#include "portals/memory/independent_block.hpp"

namespace {

using namespace margay::portals;

constexpr PortalIndex kPortal = 0;

Header message(MatchBits bits, Rank source) {
  Header header;
  header.portal = kPortal;
  header.match_bits = bits;
  header.source = {0, source};
  return header;
}

// MPI's match bits: tag, source, context, type; posted receives ignore two of the type bits.
constexpr MatchBits kTypeBits = 5;
constexpr MatchBits kAnyTag = 0xffff'ffff'0000'0000;
MatchBits bits_of(std::uint64_t tag, std::uint64_t source) {
  return tag << 32 | source << 16 | 1 << 3;
}

// A posted receive: an entry and its independent block of one buffer.
struct Receive {
  std::array<IndependentBuffer, 1> rows;
  IndependentBlock block{rows, Progression::linear};
  MatchEntry entry;
};

// A list with the device's structure: posted receives, then two catch-alls on a heap.
struct Posted {
  explicit Posted(std::size_t count) : heap(heap_memory()), block(heap), receives(count) {
    shorts.set({.match_bits = 0, .ignore_bits = ~MatchBits{7}}, block, {});
    longs.set({.match_bits = 4, .ignore_bits = ~MatchBits{4}}, block, {.save = Save::header});
    list.append(shorts);
    list.append(longs);
    MARGAY_ASSERT(table.attach(kPortal, list).ok());
  }
  ~Posted() { std::free(heap.base); }
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;

  static Buffer heap_memory() {
    constexpr std::size_t kBytes = 1 << 20;
    return {static_cast<std::byte*>(std::aligned_alloc(64, kBytes)), kBytes};
  }
  void post(std::size_t at, MatchBits bits, MatchBits ignore) {
    Receive& receive = receives[at];
    receive.entry.set({.match_bits = bits, .ignore_bits = ignore, .source_group = 0}, receive.block, {});
    list.insert_before(shorts, receive.entry, MatchList::Start::inactive);
    list.activate(receive.entry);
  }
  // The device's work when it drains the changed list.
  void take_off(Descriptor& changed_block) {
    auto& receive = *static_cast<Receive*>(changed_block.owner());
    list.remove(receive.entry);
    receive.block.release(0);
    receive.block.rewind();
  }

  Buffer heap;
  DynamicBlock block;
  std::vector<Receive> receives;
  MatchEntry shorts;
  MatchEntry longs;
  PortalTable table;
  ChangedList changed;
  Delivery delivery{table, changed};
  MatchList list;
};

enum class Order : int { same, reverse, shuffled };

std::vector<std::size_t> order_of(std::size_t count, Order order) {
  std::vector<std::size_t> way(count);
  std::iota(way.begin(), way.end(), std::size_t{0});
  if (order == Order::reverse) std::reverse(way.begin(), way.end());
  if (order == Order::shuffled) std::shuffle(way.begin(), way.end(), std::mt19937_64(1));
  return way;
}

// Each message is matched; its receive is removed and posted again, so that the list keeps its length.
void match(benchmark::State& state, Order order, bool wildcards) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Posted posted(count);
  // With wildcards, every third receive accepts any tag from its own source. All receives ignore two type bits.
  const auto ignore = [&](std::size_t at) { return wildcards && at % 3 == 1 ? kTypeBits | kAnyTag : kTypeBits; };
  for (std::size_t at = 0; at < count; ++at) {
    posted.receives[at].block.set_owner_tag(&posted.receives[at], 0);
    posted.receives[at].rows[0] = {};
    posted.post(at, bits_of(at, at & 0xffff), ignore(at));
  }
  const std::vector<std::size_t> way = order_of(count, order);
  std::size_t turn = 0;
  for (auto _ : state) {
    const std::size_t at = way[turn];
    turn = turn + 1 == count ? 0 : turn + 1;
    const Header header = message(bits_of(at, at & 0xffff), static_cast<Rank>(at));
    const Verdict verdict = posted.delivery.decide(header);
    posted.delivery.complete(verdict, header);
    Descriptor* const changed = posted.changed.take();
    MARGAY_ASSERT(changed->type() == DescriptorType::independent_block);
    const auto index = static_cast<std::size_t>(static_cast<Receive*>(changed->owner()) - posted.receives.data());
    posted.take_off(*changed);
    posted.post(index, bits_of(index, index & 0xffff), ignore(index));
  }
}

void in_order(benchmark::State& state) {
  match(state, Order::same, false);
}
void reverse_order(benchmark::State& state) {
  match(state, Order::reverse, false);
}
void shuffled_order(benchmark::State& state) {
  match(state, Order::shuffled, false);
}
void mixed_wildcards(benchmark::State& state) {
  match(state, Order::reverse, true);
}
BENCHMARK(in_order)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(reverse_order)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(shuffled_order)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(mixed_wildcards)->RangeMultiplier(10)->Range(10, 100000);

// All receives have the same key. The earliest one is found at once; receives leave the key's queue at its front and
// enter it at its end.
void same_key(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Posted posted(count);
  for (std::size_t at = 0; at < count; ++at) {
    posted.receives[at].block.set_owner_tag(&posted.receives[at], 0);
    posted.post(at, bits_of(1, 1), kTypeBits);
  }
  const Header header = message(bits_of(1, 1), 1);
  for (auto _ : state) {
    const Verdict verdict = posted.delivery.decide(header);
    posted.delivery.complete(verdict, header);
    Descriptor* const changed = posted.changed.take();
    posted.take_off(*changed);
    posted.post(static_cast<std::size_t>(static_cast<Receive*>(changed->owner()) - posted.receives.data()),
                bits_of(1, 1), kTypeBits);
  }
}
BENCHMARK(same_key)->RangeMultiplier(10)->Range(10, 100000);

// As many messages of one key as receives are posted, and only then a drain of the changed list: exhausted entries must
// not slow down later messages. The time per message includes the posting.
void burst(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Posted posted(count);
  for (std::size_t at = 0; at < count; ++at) posted.receives[at].block.set_owner_tag(&posted.receives[at], 0);
  const Header header = message(bits_of(1, 1), 1);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
    for (std::size_t at = 0; at < count; ++at) posted.post(at, bits_of(1, 1), kTypeBits);
    for (std::size_t at = 0; at < count; ++at) posted.delivery.complete(posted.delivery.decide(header), header);
    while (Descriptor* const changed = posted.changed.take()) posted.take_off(*changed);
  }
}
BENCHMARK(burst)->RangeMultiplier(10)->Range(10, 100000);

// Messages that match no posted receive go to the heap, past all posted entries.
void unexpected(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Posted posted(count);
  for (std::size_t at = 0; at < count; ++at) posted.post(at, bits_of(at, 1), kTypeBits);
  const Header header = message(bits_of(5, 2), 2);
  for (auto _ : state) {
    const Verdict verdict = posted.delivery.decide(header);
    posted.delivery.complete(verdict, header);
    posted.block.release(*verdict.message);
  }
}
BENCHMARK(unexpected)->RangeMultiplier(10)->Range(10, 100000);

// decide() and complete() alone: one posted receive before the catch-alls.
void hot_path(benchmark::State& state) {
  Posted posted(1);
  posted.post(0, bits_of(1, 1), kTypeBits);
  const Header header = message(bits_of(1, 1), 1);
  for (auto _ : state) {
    const Verdict verdict = posted.delivery.decide(header);
    benchmark::DoNotOptimize(verdict.landing);
    posted.delivery.complete(verdict, header);
    benchmark::DoNotOptimize(posted.changed.take());
    posted.receives[0].block.release(0);
    posted.receives[0].block.rewind();
  }
}
BENCHMARK(hot_path);

// Posting alone: insert, activate, remove.
void post_and_cancel(benchmark::State& state) {
  Posted posted(1);
  for (auto _ : state) {
    posted.post(0, bits_of(1, 1), kTypeBits);
    posted.list.remove(posted.receives[0].entry);
  }
}
BENCHMARK(post_and_cancel);

// A heap with queued messages. Each one is searched for and released, and a message like it arrives at the end of the
// queue.
void find_arrived(benchmark::State& state, Order order, bool wildcards) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Buffer memory = {static_cast<std::byte*>(std::aligned_alloc(64, count * 256 + 65536)), count * 256 + 65536};
  DynamicBlock block(memory);
  PortalTable table;
  ChangedList changed;
  MARGAY_ASSERT(table.attach(kPortal, block, {}).ok());
  Delivery delivery(table, changed);
  const auto arrive = [&](std::size_t at) {
    const Header header = message(bits_of(at, at & 0xffff), static_cast<Rank>(at));
    const Verdict verdict = delivery.decide(header);
    delivery.complete(verdict, header);
  };
  for (std::size_t at = 0; at < count; ++at) arrive(at);
  const std::vector<std::size_t> way = order_of(count, order);
  std::size_t turn = 0;
  for (auto _ : state) {
    const std::size_t at = way[turn];
    turn = turn + 1 == count ? 0 : turn + 1;
    const MatchBits ignore = kTypeBits | (wildcards && at % 3 == 1 ? kAnyTag : 0);
    ArrivedMessage* const found = block.find({.match_bits = bits_of(at, at & 0xffff), .ignore_bits = ignore});
    const auto tag = static_cast<std::size_t>(found->header.match_bits >> 32);
    block.release(*found);
    arrive(tag);
  }
  std::free(memory.base);
}

void find_in_order(benchmark::State& state) {
  find_arrived(state, Order::same, false);
}
void find_reverse(benchmark::State& state) {
  find_arrived(state, Order::reverse, false);
}
void find_shuffled(benchmark::State& state) {
  find_arrived(state, Order::shuffled, false);
}
void find_wildcards(benchmark::State& state) {
  find_arrived(state, Order::reverse, true);
}
BENCHMARK(find_in_order)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(find_reverse)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(find_shuffled)->RangeMultiplier(10)->Range(10, 100000);
BENCHMARK(find_wildcards)->RangeMultiplier(10)->Range(10, 100000);

}  // namespace

BENCHMARK_MAIN();
