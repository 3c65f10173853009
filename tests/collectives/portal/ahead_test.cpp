// Tests of members that run ahead of others: their early messages are bounded, and neither the bound nor the messages
// behind it stop concurrent calls of others.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr std::size_t kShort = kHandshakeBytes / sizeof(std::uint64_t);
constexpr std::size_t kLong = kShort + 100;

struct Ahead {
  std::optional<Channel> channel;
  Words mine, expected;
  std::unique_ptr<StoppingCall> call;
};

// The call of a persistent channel, of a different kind for each channel; its receivers request their messages.
void begin(CollectiveWorld& world, int rank, std::size_t at, Ahead& one) {
  const int size = world.size();
  const int root = static_cast<int>(at) % size;
  const auto ranks = static_cast<std::uint64_t>(size);
  const std::uint64_t total = ranks * at + ranks * (ranks - 1) / 2;
  one.mine.assign(kLong, at + static_cast<std::uint64_t>(rank));
  one.expected.assign(kLong, at % 4 < 2 ? at + static_cast<std::uint64_t>(root) : total);
  if (at % 4 == 2 && rank != root) one.expected.clear();
  std::byte* const data = bytes_of(one.mine);
  const portals::Region region(data, kLong * sizeof(std::uint64_t));
  const Reducer sum = predefined_combine(MPI_SUM, MPI_UINT64_T);
  const auto routine = [=](Collective& collective) -> Steps {
    switch (at % 4) {
      case 0:
        return bcast_tree(collective, root, region);
      case 1:
        return bcast_bucket(collective, root, region);
      case 2:
        return reduce_tree(collective, root, {data, kLong, sizeof(std::uint64_t), sum});
      default:
        return allreduce_direct(collective, {data, kLong, sizeof(std::uint64_t), sum});
    }
  };
  one.call = world.begin_call(rank, routine, Notices::take_number(*one.channel));
}

}  // namespace

// Each member starts its persistent calls in an order of its own, half of them before an ordered call.
TEST_CASE("early notices without room are dropped, and repeated when their call starts") {
  constexpr std::size_t kMade = 24;
  std::uint64_t dropped = 0;
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    CollectiveWorld::Options options;
    options.ranks = 2 + static_cast<int>(seed % 4);
    options.seed = seed;
    options.limits.early_notices = seed % 3;
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      Notices& notices = world.portal(rank).notices();
      std::vector<Ahead> calls(kMade);
      for (Ahead& one : calls) CHECK(notices.open(one.channel.emplace(Channel{world.communicator(rank)})));
      std::vector<std::size_t> order(kMade);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(rank));
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < kMade; ++i) {
        if (i == kMade / 2) {
          Words between(kLong, static_cast<std::uint64_t>(rank));
          const portals::Region region(bytes_of(between), kLong * sizeof(std::uint64_t));
          CHECK(world.call(rank, [&](Collective& collective) { return bcast_tree(collective, 0, region); }) ==
                MPI_SUCCESS);
          CHECK(between == Words(kLong, 0));
        }
        begin(world, rank, order[i], calls[order[i]]);
        CHECK(notices.early() <= options.limits.early_notices);
      }
      for (Ahead& one : calls) {
        world.wait_for(rank, *one.call);
        CHECK(one.call->error_class() == MPI_SUCCESS);
        if (!one.expected.empty()) CHECK(one.mine == one.expected);
        notices.close(*one.channel);
      }
    }));
    for (int rank = 0; rank < options.ranks; ++rank) {
      CHECK(world.portal(rank).notices().early() == 0);
      dropped += world.portal(rank).notices().dropped();
    }
  }
  CHECK(dropped != 0);
}

// More short messages than fit in the heap, and behind them on the same wire the awaited one.
TEST_CASE("messages of calls that their receiver has not begun do not stop those of its current call") {
  constexpr std::size_t kMade = 40;
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    CollectiveWorld::Options options;
    options.ranks = 2 + static_cast<int>(seed % 2);
    options.seed = seed;
    options.limits = {.heap_bytes = std::size_t{64} << 10, .spill_bytes = std::size_t{8} << 20};
    CollectiveWorld world(options);
    const Reducer sum = predefined_combine(MPI_SUM, MPI_UINT64_T);
    CHECK(world.run([&](int rank) {
      std::vector<Ahead> calls(kMade);
      Notices& notices = world.portal(rank).notices();
      for (Ahead& one : calls) CHECK(notices.open(one.channel.emplace(Channel{world.communicator(rank)})));
      const auto start_all = [&] {
        for (Ahead& one : calls) {
          one.mine.assign(kShort, static_cast<std::uint64_t>(rank + 1));
          one.call = world.begin_call(
              rank,
              [&world, data = bytes_of(one.mine), sum](Collective& collective) {
                return reduce_tree(collective, 0, {data, kShort, sizeof(std::uint64_t), sum});
              },
              Notices::take_number(*one.channel));
        }
      };
      const auto wait_for_all = [&] {
        const auto ranks = static_cast<std::uint64_t>(world.size());
        for (Ahead& one : calls) {
          world.wait_for(rank, *one.call);
          CHECK(one.call->error_class() == MPI_SUCCESS);
          if (rank == 0) CHECK(one.mine == Words(kShort, ranks * (ranks + 1) / 2));
        }
      };
      start_all();  // the first start of each is a gate
      wait_for_all();
      if (rank != 0) start_all();
      Words in_order(1, 1);
      static_cast<void>(world.call(rank, [&](Collective& collective) {
        return allreduce_exchange(collective, {bytes_of(in_order), 1, sizeof(std::uint64_t), sum});
      }));
      CHECK(in_order[0] == static_cast<std::uint64_t>(world.size()));
      if (rank == 0) start_all();
      wait_for_all();
      for (Ahead& one : calls) notices.close(*one.channel);
    }));
  }
}

// One member awaits many messages, while messages of calls arrive that it has not begun.
TEST_CASE("an early message wakes none of the calls that wait for others") {
  constexpr std::size_t kMade = CallNumber::kChannelsAhead / 2;  // those above are gates at each start
  constexpr std::size_t kWaiting = 3 * kMade;                    // more than the table has buckets at first
  CollectiveWorld world({.ranks = 2, .seed = 5});
  const Reducer sum = predefined_combine(MPI_SUM, MPI_UINT64_T);
  std::uint64_t runs = 0;
  CHECK(world.run([&](int rank) {
    Notices& notices = world.portal(rank).notices();
    std::vector<Ahead> reductions(kMade), broadcasts(kWaiting);
    for (Ahead& one : reductions) CHECK(notices.open(one.channel.emplace(Channel{world.communicator(rank)})));
    for (Ahead& one : broadcasts) CHECK(notices.open(one.channel.emplace(Channel{world.communicator(rank)})));
    const auto start = [&](std::vector<Ahead>& calls) {
      const bool reduces = &calls == &reductions;
      for (Ahead& one : calls) {
        one.mine.assign(1, static_cast<std::uint64_t>(rank + 1));
        one.call = world.begin_call(
            rank,
            [reduces, data = bytes_of(one.mine), sum](Collective& collective) {
              if (reduces) return reduce_tree(collective, 0, {data, 1, sizeof(std::uint64_t), sum});
              return bcast_tree(collective, 1, portals::Region(data, sizeof(std::uint64_t)));
            },
            Notices::take_number(*one.channel));
      }
    };
    const auto finish = [&](std::vector<Ahead>& calls) {
      for (Ahead& one : calls) {
        world.wait_for(rank, *one.call);
        CHECK(one.call->error_class() == MPI_SUCCESS);
      }
    };
    start(reductions);  // the first start of each is a gate
    finish(reductions);
    start(rank == 0 ? broadcasts : reductions);
    Words in_order(1, 1);
    static_cast<void>(world.call(rank, [&](Collective& collective) {
      return allreduce_exchange(collective, {bytes_of(in_order), 1, sizeof(std::uint64_t), sum});
    }));
    start(rank == 0 ? reductions : broadcasts);
    finish(reductions);
    finish(broadcasts);
    for (const Ahead& one : broadcasts) {
      CHECK(one.mine[0] == 2);
      if (rank == 0) runs += one.call->runs();
    }
    for (const Ahead& one : reductions) CHECK((rank != 0 || one.mine[0] == 3));
    for (Ahead& one : reductions) notices.close(*one.channel);
    for (Ahead& one : broadcasts) notices.close(*one.channel);
  }));
  CHECK(runs < kWaiting * 10);
}

// The ring of channels wraps; each member frees its calls at any time.
TEST_CASE("a channel in use by an unfreed call of some member is skipped on all members") {
  constexpr std::uint64_t kRing = std::uint64_t{1} << CallNumber::kChannelBits;
  CollectiveWorld world({.ranks = 2, .seed = 1});
  std::array<Notices*, 2> notices{&world.portal(0).notices(), &world.portal(1).notices()};
  std::array<std::vector<std::unique_ptr<Channel>>, 2> living;
  std::uint64_t agreements = 0;
  const auto open_on_both = [&](std::array<std::unique_ptr<Channel>, 2>& made) {
    for (std::size_t rank : {0U, 1U}) made[rank].reset(new Channel{world.communicator(static_cast<int>(rank))});
    while (!notices[0]->open(*made[0])) {
      REQUIRE_FALSE(notices[1]->open(*made[1]));
      REQUIRE(++agreements < 100);
      std::vector<std::uint64_t> free = notices[0]->free_channels(world.communicator(0));
      const std::vector<std::uint64_t> others = notices[1]->free_channels(world.communicator(1));
      std::transform(free.begin(), free.end(), others.begin(), free.begin(), std::bit_and<>());
      for (const int rank : {0, 1}) Notices::agreed_on_channels(world.communicator(rank), free);
    }
    REQUIRE(notices[1]->open(*made[1]));
  };
  std::array<std::unique_ptr<Channel>, 2> made;
  for (std::uint64_t i = 0; i < 2 * kRing + 10; ++i) {
    open_on_both(made);
    REQUIRE(made[0]->number == made[1]->number);
    for (std::size_t rank : {0U, 1U}) {
      // A few calls remain, on one of the two members only.
      if (i < 100 && i % 2 == rank) {
        living[rank].push_back(std::move(made[rank]));
      } else {
        notices[rank]->close(*made[rank]);
      }
    }
  }
  CHECK(made[0]->number == 2 * kRing + 10 - 1 + 2 * 100);
  CHECK(agreements == 2 * kRing / CallNumber::kChannelsAtOnce);
  for (std::size_t rank : {0U, 1U}) {
    for (const auto& channel : living[rank]) notices[rank]->close(*channel);
  }
}

}  // namespace margay::collectives
