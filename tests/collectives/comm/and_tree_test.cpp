// Tests of the bitwise and over all members, on the virtual wire: rounds of one call, concurrent calls, and a lost
// member. Also of the tags that distinguish agreements.
#include "collectives/comm/agree.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {

namespace {

using AndWords = std::vector<std::uint64_t>;
constexpr std::uint64_t kRounds = 4;

// The words of member `rank` in round `round`, which every member can compute. In the first and the last of them some
// members lack bits.
AndWords and_words(int rank, std::uint64_t round) {
  const auto me = static_cast<std::uint64_t>(rank);
  return {~(std::uint64_t{1} << (me + round) % 64), ~std::uint64_t{0}, ~(me << 8 * round)};
}

AndWords and_of_all(int size, std::uint64_t round) {
  AndWords all = and_words(0, round);
  for (int rank = 1; rank < size; ++rank) {
    const AndWords theirs = and_words(rank, round);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] &= theirs[i];
  }
  return all;
}

Steps and_rounds(Collective& collective, bool& right, int& error_class) {
  for (std::uint64_t round = 0; round < kRounds && error_class == MPI_SUCCESS; ++round) {
    AndWords words = and_words(collective.rank(), round);
    co_await and_tree(collective, words, error_class);
    right &= error_class != MPI_SUCCESS || words == and_of_all(collective.size(), round);
  }
}

}  // namespace

TEST_CASE("all members get the and of all members' words, in each round of one call") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run([&](int rank) {
        for (int calls = 0; calls < 2; ++calls) {
          bool right = true;
          int error_class = MPI_SUCCESS;
          CHECK(world.call(rank, [&](Collective& collective) { return and_rounds(collective, right, error_class); }) ==
                MPI_SUCCESS);
          CHECK(right);
          CHECK(error_class == MPI_SUCCESS);
        }
      }));
    }
  }
}

// A member that answered at each gate would take a word of one round for the next, or get one after its part is over.
TEST_CASE("in a gate too: all wait for all in each round, so none asks whether another one is ready") {
  for (const int size : {2, 5, 8, 13}) {
    for (const std::uint64_t seed : testing::Seeds(testing::kSanitized ? 4 : 20)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      constexpr std::uint64_t kCalls = CallNumber::kGateCalls + 2;
      std::uint64_t sent = 0;
      CHECK(world.run([&](int rank) {
        for (std::uint64_t calls = 0; calls < kCalls; ++calls) {
          bool right = true;
          int error_class = MPI_SUCCESS;
          CHECK(world.call(rank, [&](Collective& collective) { return and_rounds(collective, right, error_class); }) ==
                MPI_SUCCESS);
          CHECK(right);
          CHECK(error_class == MPI_SUCCESS);
        }
      }));
      for (int rank = 0; rank < size; ++rank) sent += world.portal(rank).sent().messages;
      CHECK_EQ(sent, kCalls * kRounds * 2 * static_cast<std::uint64_t>(size - 1));
    }
  }
}

TEST_CASE("a member that is lost before it takes part is reported to all others") {
  for (const std::uint64_t seed : testing::Seeds(40)) {
    const int size = 2 + static_cast<int>(seed % 7);
    const int lost = static_cast<int>(seed / 7 % static_cast<std::uint64_t>(size));
    CAPTURE(size);
    CAPTURE(lost);
    CAPTURE(seed);
    CollectiveWorld world({.ranks = size, .seed = seed});
    CHECK(world.run(
        [&](int rank) {
          bool right = true;
          int error_class = MPI_SUCCESS;
          static_cast<void>(
              world.call(rank, [&](Collective& collective) { return and_rounds(collective, right, error_class); }));
          CHECK(error_class == MPIX_ERR_PROC_FAILED);
        },
        lost));
  }
}

TEST_CASE("internal tags are distinct, and none is a wildcard") {
  CHECK(internal_tag(Agreement::create_group, 7) == 7);
  for (int bit = 0; bit < static_cast<int>(mpi_adi::kUserTagBits); ++bit) {
    const auto tag = static_cast<std::uint64_t>(mpi_adi::kUserTagMax - (1 << bit));
    CHECK(internal_tag(Agreement::create_group, tag) != internal_tag(Agreement::create_group, mpi_adi::kUserTagMax));
  }
  CHECK(internal_tag(Agreement::intercomm, 7) != 7);
  CHECK(internal_tag(Agreement::graph_edges, 7) != internal_tag(Agreement::intercomm, 7));
  for (const auto kind : {Agreement::create_group, Agreement::intercomm, Agreement::graph_edges}) {
    CHECK(internal_tag(kind, ~std::uint64_t{0}) != MPI_ANY_TAG);
  }
}

}  // namespace margay::collectives
