// Tests of calls in which some members name another length, on both sides of the length from which messages are
// requested: no member waits for ever, some member gets MPI_ERR_TRUNCATE, and matching calls before, between and after
// them succeed. In calls with a lost member, the messages that it leaves out are not reported as such a mismatch.
#include "collectives/portal/notices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr int kCalls = 12;
constexpr std::array<std::size_t, 6> kLengths{0, 8, 2048, kHandshakeBytes, kHandshakeBytes + 8, 40'000};

struct Named {
  std::uint64_t operation;
  int root;
  std::vector<std::size_t> lengths;  // of each rank
  [[nodiscard]] bool fits() const {
    return std::all_of(lengths.begin(), lengths.end(), [this](std::size_t each) { return each == lengths[0]; });
  }
};

std::vector<Named> random_calls(std::uint64_t seed, int ranks) {
  std::mt19937_64 random(seed * 31);
  std::vector<Named> calls;
  for (int call = 0; call < kCalls; ++call) {
    Named named{random() % 3, static_cast<int>(random() % static_cast<std::uint64_t>(ranks)), {}};
    const std::size_t most = kLengths[random() % kLengths.size()];
    const bool fits = random() % 2 == 0;
    for (int rank = 0; rank < ranks; ++rank) {
      named.lengths.push_back(fits || random() % 3 != 0 ? most : kLengths[random() % kLengths.size()]);
    }
    calls.push_back(std::move(named));
  }
  return calls;
}

int make(CollectiveWorld& world, int rank, const Named& call, std::vector<std::uint64_t>& data) {
  TreePortal& portal = world.portal(rank);
  mpi_adi::Communicator& communicator = world.communicator(rank);
  auto* const bytes = reinterpret_cast<std::byte*>(data.data());
  const Reduction reduction{bytes, data.size(), sizeof(std::uint64_t), predefined_combine(MPI_SUM, MPI_UINT64_T)};
  if (call.operation == 0)
    return perform(portal, communicator, BcastCall{call.root, portals::Region(bytes, data.size() * 8)});
  if (call.operation == 1) return perform(portal, communicator, ReduceCall{call.root, reduction});
  return perform(portal, communicator, AllreduceCall{reduction});
}

std::uint64_t expected(const Named& call, int ranks) {
  return static_cast<std::uint64_t>(call.operation == 0 ? call.root + 1 : ranks * (ranks + 1) / 2);
}

}  // namespace

TEST_CASE("members whose lengths lie on two sides of the handshake's do not wait for each other") {
  for (const std::uint64_t seed : testing::Seeds(400)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CollectiveWorld::Options options;
    options.ranks = 2 + static_cast<int>(random() % 6);
    options.seed = seed;
    options.crowded = random() % 2 == 0;
    for (int rank = 0; rank < options.ranks; ++rank) {
      options.nodes.push_back(static_cast<std::uint32_t>(random() % 2));
    }
    CollectiveWorld world(options);
    const std::vector<Named> calls = random_calls(seed, options.ranks);
    std::vector<std::vector<int>> errors(kCalls);
    CHECK(world.run([&](int rank) {
      for (std::size_t at = 0; at < calls.size(); ++at) {
        const Named& call = calls[at];
        std::vector<std::uint64_t> data(call.lengths[static_cast<std::size_t>(rank)] / 8,
                                        static_cast<std::uint64_t>(rank + 1));
        const std::size_t words = data.size();
        const int error = make(world, rank, call, data);
        errors[at].push_back(error);
        if (!call.fits() || (call.operation == 1 && rank != call.root)) continue;
        CHECK(data == std::vector<std::uint64_t>(words, expected(call, options.ranks)));
      }
    }));
    for (std::size_t at = 0; at < calls.size(); ++at) {
      CAPTURE(at);
      for (const int error : errors[at]) CHECK((error == MPI_SUCCESS || error == MPI_ERR_TRUNCATE));
      const bool reported = std::find(errors[at].begin(), errors[at].end(), MPI_ERR_TRUNCATE) != errors[at].end();
      CHECK(reported != calls[at].fits());
    }
  }
}

// A receiver may request a message after its sender's call ended because a third member was lost; the sender has then
// notified it of the reason.
TEST_CASE("calls with a lost member end with its loss, and not with a mismatch") {
  for (const std::uint64_t seed : testing::Seeds(300)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CollectiveWorld::Options options;
    options.ranks = 3 + static_cast<int>(random() % 6);
    options.seed = seed;
    options.crowded = random() % 2 == 0;
    CollectiveWorld world(options);
    std::vector<Named> calls = random_calls(seed, options.ranks);
    for (Named& call : calls) std::fill(call.lengths.begin(), call.lengths.end(), call.lengths[0]);
    const auto absent = static_cast<int>(random() % static_cast<std::uint64_t>(options.ranks));
    CHECK(world.run(
        [&](int rank) {
          for (const Named& call : calls) {
            std::vector<std::uint64_t> data(call.lengths[0] / 8, 1);
            const int error = make(world, rank, call, data);
            CHECK((error == MPI_SUCCESS || error == MPIX_ERR_PROC_FAILED));
          }
        },
        absent));
  }
}

}  // namespace margay::collectives
