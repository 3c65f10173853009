// Tests of group operations on random groups, against simple, slow implementations.
#include "mpi_adi/object/group_ops.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace margay::mpi_adi {

namespace {

constexpr std::uint32_t kWorld = 12, kMe = 4;
using Ranks = std::vector<std::uint32_t>;

Ranks random_ranks(std::mt19937& random) {
  Ranks all(kWorld);
  std::iota(all.begin(), all.end(), 0U);
  if (random() % 4 != 0) std::shuffle(all.begin(), all.end(), random);
  all.resize(random() % (kWorld + 1));
  return all;
}

bool has(const Ranks& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// The ranks of `one` that are in `other` (`wanted`), or are not.
Ranks slow_filter(const Ranks& one, const Ranks& other, bool wanted) {
  Ranks kept;
  for (const std::uint32_t rank : one) {
    if (has(other, rank) == wanted) kept.push_back(rank);
  }
  return kept;
}

int slow_compare(const Ranks& one, const Ranks& other) {
  if (one == other) return MPI_IDENT;
  Ranks a = one, b = other;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b ? MPI_SIMILAR : MPI_UNEQUAL;
}

void check_me(const Group& group) {
  const auto mine = std::find(group.world_ranks.begin(), group.world_ranks.end(), kMe);
  CHECK(group.my_rank == (mine == group.world_ranks.end() ? -1 : mine - group.world_ranks.begin()));
}

}  // namespace

TEST_CASE("operations on random groups agree with simple implementations") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Ranks a = random_ranks(random), b = round % 5 == 0 ? a : random_ranks(random);
    const GroupPtr one = make_group(Ranks(a), kMe), other = make_group(Ranks(b), kMe);
    check_me(*one);
    Ranks both = a;
    for (const std::uint32_t rank : slow_filter(b, a, false)) both.push_back(rank);
    CHECK(unite(*one, *other, kMe)->world_ranks == both);
    CHECK(intersect(*one, *other, kMe)->world_ranks == slow_filter(a, b, true));
    CHECK(subtract(*one, *other, kMe)->world_ranks == slow_filter(a, b, false));
    check_me(*unite(*one, *other, kMe));
    CHECK(compare(*one, *other) == slow_compare(a, b));
    CHECK(is_subset(*one, *other) == slow_filter(a, b, false).empty());

    // Few ranks and many ranks are translated by different algorithms.
    std::vector<int> ranks{MPI_PROC_NULL}, found(kWorld + 1);
    for (std::size_t i = 0; i < a.size(); ++i) ranks.push_back(static_cast<int>(i));
    translate(*one, ranks, *other, found.data());
    CHECK(found[0] == MPI_PROC_NULL);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto at = std::find(b.begin(), b.end(), a[i]);
      CHECK(found[i + 1] == (at == b.end() ? MPI_UNDEFINED : at - b.begin()));
    }
  }
}

TEST_CASE("members are chosen by ranks") {
  const GroupPtr group = make_group({9, 4, 7, 1}, kMe);
  const std::vector<int> ranks{3, 0};
  CHECK(include(*group, ranks, kMe)->world_ranks == Ranks{1, 9});
  CHECK(exclude(*group, ranks, kMe)->world_ranks == Ranks{4, 7});
  CHECK(exclude(*group, ranks, kMe)->my_rank == 0);
  CHECK(include(*group, {}, kMe)->size() == 0);
}

TEST_CASE("invalid ranks are found, each with its position") {
  using What = RankFault::What;
  const auto check = [](std::vector<int> ranks) { return check_ranks(4, ranks); };
  CHECK(check({0, 3, 1}).what == What::none);
  CHECK(check({0, 4}).what == What::outside);
  CHECK(check({0, 4}).at == 1);
  CHECK(check({-1}).what == What::outside);
  CHECK(check({2, 0, 2}).what == What::twice);
  CHECK(check({2, 0, 2}).at == 2);
}

TEST_CASE("ranges are expanded to their ranks, or an error is returned") {
  using What = RankFault::What;
  struct Case {
    int range[3];
    std::vector<int> ranks;
    What what;
  };
  const Case cases[] = {
      {{1, 7, 3}, {1, 4, 7}, What::none},
      {{1, 9, 3}, {1, 4, 7}, What::none},  // the last step ends before the end: 9 is never reached
      {{7, 0, -3}, {7, 4, 1}, What::none},
      {{5, 5, -4}, {5}, What::none},
      {{0, 2'000'000'000, 2'000'000'000}, {}, What::outside},
      {{0, 7, 0}, {}, What::zero_stride},
      {{8, 8, 1}, {}, What::outside},
      {{-1, 3, 1}, {}, What::outside},
      {{0, 8, 1}, {}, What::outside},
      {{3, 1, 1}, {}, What::wrong_way},
      {{1, 3, -1}, {}, What::wrong_way},
  };
  for (const Case& one : cases) {
    CAPTURE(one.range[0]);
    CAPTURE(one.range[1]);
    std::vector<int> ranks;
    const RankFault fault = expand_ranges(8, std::span(&one.range, 1), ranks);
    CHECK(fault.what == one.what);
    if (one.what == What::none) CHECK(ranks == one.ranks);
  }
  const int twice[2][3] = {{0, 4, 2}, {1, 7, 3}};
  std::vector<int> ranks;
  const RankFault fault = expand_ranges(8, twice, ranks);
  CHECK(fault.what == What::twice);
  CHECK(fault.at == 1);
  CHECK(fault.rank == 4);
}

TEST_CASE("numbers from another process are members only if they are processes, each once") {
  const auto fit = [](const std::vector<std::uint64_t>& numbers) { return can_be_members(numbers, 3); };
  CHECK(fit({}));
  CHECK(fit({2, 0, 1}));
  CHECK_FALSE(fit({3}));
  CHECK_FALSE(fit({std::uint64_t{1} << 32}));
  CHECK_FALSE(fit({1, 0, 1}));
  CHECK_FALSE(fit({0, 1, 2, 0}));
}

}  // namespace margay::mpi_adi
