// Tests of many concurrent calls: those behind a gate wait for it, all of them end, and their messages do not mix.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/call_number.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

// One call of many, of a kind that all members draw alike, and its expected result.
struct Outstanding {
  Words mine;
  Words expected;
  std::unique_ptr<StoppingCall> call;
};

void begin(CollectiveWorld& world, int rank, std::mt19937_64& random, Outstanding& one) {
  const auto size = static_cast<std::uint64_t>(world.size());
  const auto me = static_cast<std::uint64_t>(rank);
  const std::uint64_t kind = random() % 3;
  const int root = static_cast<int>(random() % size);
  const std::size_t count = random() % 6 == 0 ? 3000 : 1 + random() % 20;
  const std::uint64_t base = random() % 1000;
  one.mine.assign(count, base + me);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  std::byte* const data = bytes_of(one.mine);
  const Reducer sum = predefined_combine(MPI_SUM, MPI_UINT64_T);
  const std::uint64_t total = size * base + size * (size - 1) / 2;
  switch (kind) {
    case 0:
      one.expected.assign(count, base + static_cast<std::uint64_t>(root));
      one.call = world.begin_call(
          rank, [=](Collective& collective) { return bcast_tree(collective, root, portals::Region(data, bytes)); });
      return;
    case 1:
      one.expected.assign(count, total);
      one.call = world.begin_call(rank, [=](Collective& collective) {
        return allreduce_exchange(collective, {data, count, sizeof(std::uint64_t), sum});
      });
      return;
    default:
      if (rank == root) one.expected.assign(count, total);
      one.call = world.begin_call(rank, [=](Collective& collective) {
        return reduce_tree(collective, root, {data, count, sizeof(std::uint64_t), sum});
      });
  }
}

struct Sleeper final : mpi_adi::Task {
  explicit Sleeper(mpi_adi::TaskQueue& queue) : Task(queue, By::anybody) {
    begin();
    runs = 0;
  }
  bool go_on() override {
    ++runs;
    return false;
  }
  void over() override {}
  int runs = 0;
};

}  // namespace

TEST_CASE("nonblocking calls: many at once, of every kind, waited for in any order") {
  for (const std::uint64_t seed : testing::Seeds(30)) {
    CAPTURE(seed);
    const int size = 1 + static_cast<int>(seed % 6);
    CollectiveWorld world({.ranks = size, .seed = seed});
    int suspensions = 0;
    CHECK(world.run([&](int rank) {
      std::mt19937_64 random(seed);  // the calls, the same on every rank
      std::mt19937_64 own(seed * 100 + static_cast<std::uint64_t>(rank));
      std::vector<std::unique_ptr<Outstanding>> calls;
      for (int made = 0; made < 150; ++made) {  // past two gates
        calls.push_back(std::make_unique<Outstanding>());
        begin(world, rank, random, *calls.back());
        if (own() % 4 != 0) continue;
        const std::size_t which = own() % calls.size();
        world.wait_for(rank, *calls[which]->call);
      }
      for (const auto& one : calls) {
        world.wait_for(rank, *one->call);
        CHECK(one->call->error_class() == MPI_SUCCESS);
        if (!one->expected.empty()) CHECK(one->mine == one->expected);
        suspensions += one->call->suspensions();
      }
    }));
    if (size > 1) CHECK(suspensions > 0);
  }
}

TEST_CASE(
    "persistent calls are matched in the order in which they were made, in whatever order each member starts them") {
  constexpr std::size_t kMade = 7;
  constexpr int kRounds = 70;  // past a gate
  for (const std::uint64_t seed : testing::Seeds(12)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 4);
    CollectiveWorld world({.ranks = size, .seed = seed});
    CHECK(world.run([&](int rank) {
      std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(rank));
      Notices& notices = world.portal(rank).notices();
      std::array<std::optional<Channel>, kMade> channels;
      for (auto& channel : channels) CHECK(notices.open(channel.emplace(Channel{world.communicator(rank)})));
      std::array<std::uint64_t, kMade> data{};
      std::array<std::size_t, kMade> order{};
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (int round = 0; round < kRounds; ++round) {
        std::array<std::unique_ptr<StoppingCall>, kMade> calls;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t at : order) {
          const int root = static_cast<int>(at) % size;
          const std::uint64_t reported = at * 1000 + static_cast<std::uint64_t>(round);
          data[at] = rank == root ? reported : 0;
          calls[at] = world.begin_call(
              rank,
              [&data, at, root](Collective& collective) {
                return bcast_tree(collective, root, portals::Region(&data[at], sizeof data[at]));
              },
              Notices::take_number(*channels[at]));
        }
        // An ordered call between them.
        Words sum{1};
        static_cast<void>(world.call(rank, [&](Collective& collective) {
          return allreduce_exchange(
              collective, {bytes_of(sum), 1, sizeof(std::uint64_t), predefined_combine(MPI_SUM, MPI_UINT64_T)});
        }));
        CHECK(sum[0] == static_cast<std::uint64_t>(size));
        for (std::size_t at = 0; at < kMade; ++at) {
          world.wait_for(rank, *calls[at]);
          CHECK(calls[at]->error_class() == MPI_SUCCESS);
          CHECK(data[at] == at * 1000 + static_cast<std::uint64_t>(round));
        }
      }
      for (auto& channel : channels) notices.close(*channel);
    }));
  }
}

TEST_CASE(
    "a call that waits for a notice of its receiver, or for a message, is unfinished work: a peer is nudged for it") {
  CollectiveWorld world({.ranks = 2, .seed = 1});
  CHECK(world.run([&](int rank) {
    std::vector<std::byte> data(kHandshakeBytes + 1);
    const std::unique_ptr<StoppingCall> call = world.begin_call(rank, [&](Collective& collective) {
      return bcast_tree(collective, 0, portals::Region(data.data(), data.size()));
    });
    sim::Kernel& kernel = world.portal(rank).host().kernel();
    CHECK((call->is_over() || kernel.unfinished()));
    world.wait_for(rank, *call);
    CHECK_FALSE(kernel.unfinished());
  }));
}

TEST_CASE("calls behind a gate begin when the gate is over") {
  mpi_adi::TaskQueue queue;
  CallOrder order;
  mpi_adi::Communicator communicator;
  mpi_adi::Communicator other;
  communicator.collective_context = 1;
  other.collective_context = 3;
  std::vector<std::unique_ptr<Sleeper>> tasks;
  std::vector<std::unique_ptr<OrderedCall>> calls;
  const CallNumber ordinary = CallNumber::in_order(0);
  const CallNumber a_gate = CallNumber::in_order(CallNumber::kGateCalls - 1);
  const auto enter = [&](mpi_adi::Communicator& of, CallNumber number) -> OrderedCall& {
    tasks.push_back(std::make_unique<Sleeper>(queue));
    calls.push_back(std::make_unique<OrderedCall>(*tasks.back()));
    order.enter(*calls.back(), of, number);
    return *calls.back();
  };
  const auto runs = [&] {
    queue.run(mpi_adi::TaskQueue::Runner::program);
    std::vector<int> made;
    for (const auto& task : tasks) made.push_back(std::exchange(task->runs, 0));
    return made;
  };
  OrderedCall& before = enter(communicator, ordinary);
  OrderedCall& gate = enter(communicator, a_gate);
  OrderedCall& behind = enter(communicator, a_gate);
  OrderedCall& last = enter(communicator, ordinary);
  OrderedCall& elsewhere = enter(other, ordinary);
  // A persistent call waits for no other call, although its first start is a gate for its messages.
  OrderedCall& persistent = enter(communicator, CallNumber::started(0, 0));
  OrderedCall& another = enter(communicator, CallNumber::started(1, 0));
  CHECK(order.may_begin(before));
  CHECK(order.may_begin(gate));
  CHECK_FALSE(order.may_begin(behind));
  CHECK_FALSE(order.may_begin(last));
  CHECK(order.may_begin(elsewhere));
  CHECK(order.may_begin(persistent));
  CHECK(order.may_begin(another));

  order.leave(gate);
  CHECK(order.may_begin(behind));
  CHECK_FALSE(order.may_begin(last));
  CHECK(runs() == std::vector<int>{0, 0, 1, 0, 0, 0, 0});
  order.leave(before);
  order.leave(persistent);
  CHECK(runs() == std::vector<int>{0, 0, 0, 0, 0, 0, 0});
  order.leave(behind);
  CHECK(runs() == std::vector<int>{0, 0, 0, 1, 0, 0, 0});
  order.leave(last);
  CHECK(runs() == std::vector<int>{0, 0, 0, 0, 0, 0, 0});
  order.leave(elsewhere);
  order.leave(another);
}

}  // namespace margay::collectives
