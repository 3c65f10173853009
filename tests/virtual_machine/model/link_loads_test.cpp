// Tests of the loads of channels over time.
#include "virtual_machine/model/link_loads.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/virtual_machine/model/round_machine.hpp"
#include "virtual_machine/model/network_model.hpp"

namespace {

using namespace margay::virtual_machine;
using namespace margay::virtual_machine::test;

constexpr std::uint64_t kBegin = 5000;
constexpr std::uint64_t kWidth = LinkLoads::kFirstBucketNs;
constexpr LinkLoads::Place kPlace{.network = 0, .kind = ChannelKind::link, .number = 2};

LinkLoads loads_of_one_network() {
  constexpr std::array<LinkLoads::Counts, 1> kCounts = {{{4, 1, 1}}};
  return {kCounts, kBegin};
}

std::uint64_t sum_over(const LinkLoads::Load& load, std::uint64_t LinkLoads::Bucket::*member) {
  std::uint64_t sum = 0;
  for (const LinkLoads::Bucket& bucket : load.buckets) sum += bucket.*member;
  return sum;
}

}  // namespace

TEST_CASE("a message's load is in the buckets of its time, in proportion") {
  LinkLoads loads = loads_of_one_network();
  loads.record(kPlace, {1, kBegin, kBegin, kBegin + kWidth * 3 / 2, 0});
  // Waits half of bucket 1, and crosses the other half, bucket 2 and half of bucket 3.
  loads.record(kPlace, {2, kBegin + kWidth, kBegin + kWidth * 3 / 2, kBegin + kWidth * 7 / 2, 4096});
  const LinkLoads::Load& load = loads.load(kPlace);
  REQUIRE(load.buckets.size() == 4);
  const struct {
    std::uint32_t number;
    std::uint64_t bytes, busy_ns, blocked_ns;
  } kRows[] = {{0, 0, kWidth, 0}, {1, 1024, kWidth, kWidth / 2}, {2, 2048, kWidth, 0}, {3, 1024, kWidth / 2, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(load.buckets[i].number == kRows[i].number);
    CHECK(load.buckets[i].bytes == kRows[i].bytes);
    CHECK(load.buckets[i].busy_ns == kRows[i].busy_ns);
    CHECK(load.buckets[i].blocked_ns == kRows[i].blocked_ns);
  }
  CHECK(load.messages == 2);
  CHECK(load.most_at_once == 2);
  CHECK(loads.load({0, ChannelKind::link, 1}).messages == 0);
  CHECK(loads.load({0, ChannelKind::injection, 0}).messages == 0);
}

TEST_CASE("messages at a time: those that wait count, but those of a pair of nodes once") {
  LinkLoads loads = loads_of_one_network();
  const auto record = [&](std::uint64_t pair, std::uint64_t head, std::uint64_t from, std::uint64_t to) {
    loads.record(kPlace, {pair, kBegin + head, kBegin + from, kBegin + to, 10});
    return loads.load(kPlace).most_at_once;
  };
  CHECK(record(1, 0, 0, 100) == 1);
  CHECK(record(2, 100, 100, 200) == 1);  // when the first one has left
  CHECK(record(2, 150, 200, 300) == 1);
  CHECK(sum_over(loads.load(kPlace), &LinkLoads::Bucket::blocked_ns) == 0);
  CHECK(record(3, 199, 300, 400) == 2);
  CHECK(sum_over(loads.load(kPlace), &LinkLoads::Bucket::blocked_ns) == 101);
  // Waits for the other pair's message, not for those of its own before and behind it.
  CHECK(record(2, 250, 400, 500) == 2);
  CHECK(record(2, 260, 500, 600) == 2);
  CHECK(sum_over(loads.load(kPlace), &LinkLoads::Bucket::blocked_ns) == 101 + 150 + 140);
  CHECK(record(4, 350, 600, 700) == 3);
  CHECK(record(5, 610, 700, 800) == 3);  // the others have left
  // Messages without length, on a channel without limits, do not meet.
  LinkLoads others = loads_of_one_network();
  for (int i = 0; i < 3; ++i) others.record(kPlace, {static_cast<std::uint64_t>(i), kBegin, kBegin, kBegin, 10});
  CHECK(others.load(kPlace).most_at_once == 1);
  CHECK(sum_over(others.load(kPlace), &LinkLoads::Bucket::bytes) == 30);
}

TEST_CASE("buckets double their width with the run, and keep the sums") {
  LinkLoads loads = loads_of_one_network();
  std::mt19937 bits(7);
  std::uint64_t free_ns = kBegin;
  std::uint64_t bytes = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t blocked_ns = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t head_ns =
        std::max(kBegin, free_ns - std::min<std::uint64_t>(free_ns - kBegin, bits() % 3000)) + bits() % 4000;
    const std::uint64_t from_ns = std::max(head_ns, free_ns);
    free_ns = from_ns + bits() % 5000;
    const std::uint64_t length = bits() % 10'000;
    loads.record(kPlace, {static_cast<std::uint64_t>(i), head_ns, from_ns, free_ns, length});
    bytes += length;
    busy_ns += free_ns - from_ns;
    blocked_ns += from_ns - head_ns;
  }
  const LinkLoads::Load& load = loads.load(kPlace);
  CHECK(sum_over(load, &LinkLoads::Bucket::bytes) == bytes);
  CHECK(sum_over(load, &LinkLoads::Bucket::busy_ns) == busy_ns);
  CHECK(sum_over(load, &LinkLoads::Bucket::blocked_ns) == blocked_ns);
  // The width is the smallest one that suffices.
  CHECK(loads.bucket_ns() * LinkLoads::kBuckets > free_ns - kBegin);
  CHECK(loads.bucket_ns() / 2 * LinkLoads::kBuckets <= free_ns - kBegin);
  CHECK(load.buckets.size() > LinkLoads::kBuckets / 2);
  for (std::size_t i = 0; i < load.buckets.size(); ++i) {
    CHECK(load.buckets[i].busy_ns <= loads.bucket_ns());
    CHECK(load.buckets[i].number < LinkLoads::kBuckets);
    if (i > 0) CHECK(load.buckets[i].number > load.buckets[i - 1].number);
  }
}

TEST_CASE("a network's messages are recorded on each channel of their routes") {
  NetworkModel model(mesh_of({3, 3}), 9);
  LinkLoads loads(model.channel_counts(), 0);
  model.record_to(&loads);
  // Both messages end on the same link, from switch 1 to switch 2: the second one waits there.
  const Transfer first = model.transfer(0, 2, 1000, 0);
  const Transfer second = model.transfer(1, 2, 1000, 0);
  CHECK(first.blocked_ns == 0);
  REQUIRE(second.blocked_ns > 0);
  std::uint64_t blocked_ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t most_at_once = 0;
  for (std::uint32_t link = 0; link < model.fabric(0).link_count(); ++link) {
    const LinkLoads::Load& load = loads.load({0, ChannelKind::link, link});
    CHECK(sum_over(load, &LinkLoads::Bucket::bytes) == model.links(0)[link].bytes);
    CHECK(sum_over(load, &LinkLoads::Bucket::busy_ns) == model.links(0)[link].busy_ns);
    blocked_ns += sum_over(load, &LinkLoads::Bucket::blocked_ns);
    bytes += sum_over(load, &LinkLoads::Bucket::bytes);
    most_at_once = std::max(most_at_once, load.most_at_once);
  }
  CHECK(bytes == 3000);
  CHECK(most_at_once == 2);
  for (const ChannelKind kind : {ChannelKind::injection, ChannelKind::ejection})
    for (std::uint32_t node = 0; node < 9; ++node)
      blocked_ns += sum_over(loads.load({0, kind, node}), &LinkLoads::Bucket::blocked_ns);
  CHECK(blocked_ns == first.blocked_ns + second.blocked_ns);
  CHECK(loads.load({0, ChannelKind::injection, 1}).messages == 1);
  CHECK(loads.load({0, ChannelKind::ejection, 2}).messages == 2);
}

TEST_CASE("recording changes no time") {
  NetworkModel plain(mesh_of({4, 4}), 16);
  NetworkModel recorded(mesh_of({4, 4}), 16);
  LinkLoads loads(recorded.channel_counts(), 0);
  recorded.record_to(&loads);
  std::mt19937 bits(3);
  for (std::uint64_t at = 0; at < 100'000; at += 100) {
    const auto from = static_cast<std::uint32_t>(bits() % 16);
    const auto to = static_cast<std::uint32_t>(bits() % 16);
    const std::uint64_t bytes = bits() % 2000;
    CHECK(plain.transfer(from, to, bytes, at).arrival_ns == recorded.transfer(from, to, bytes, at).arrival_ns);
  }
}
