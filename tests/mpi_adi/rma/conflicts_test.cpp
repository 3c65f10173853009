// Tests of the accesses that --check-rma reports as conflicts (MPI 4.0, 12.7), by kind, epoch and completion; and of
// the search for overlapping ranges, compared with a test of every pair.
#include "mpi_adi/rma/conflicts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {

namespace {

AnnouncedAccess access_of(std::int32_t origin, AccessKind kind, std::int32_t op = MPI_SUM,
                          std::int32_t type = MPI_INT) {
  static std::uint64_t number = 0;
  AnnouncedAccess access;
  access.number = ++number;
  access.origin = origin;
  access.kind = kind;
  access.op = op;
  access.type = type;
  return access;
}
AnnouncedAccess in_epoch(AnnouncedAccess access, EpochKind epoch, std::uint32_t fences = 0) {
  access.epoch = epoch;
  access.fences = fences;
  return access;
}

constexpr ByteRange kRange{16, 32};

bool meets(ConflictTable& table, const AnnouncedAccess& access, ByteRange range = kRange) {
  return table.add(access, {&range, 1}).has_value();
}

constexpr AccessKind kPut = AccessKind::put, kGet = AccessKind::get, kAccumulate = AccessKind::accumulate;

}  // namespace

TEST_CASE("two accesses conflict, in either order, if one writes and they are not compatible accumulates") {
  const AnnouncedAccess put = access_of(0, kPut), get = access_of(1, kGet), sum = access_of(2, kAccumulate);
  const AnnouncedAccess look = access_of(3, kAccumulate, MPI_NO_OP), swap = access_of(4, kAccumulate, MPI_OP_NULL);
  const auto both = [](const AnnouncedAccess& one, const AnnouncedAccess& other) {
    CHECK(clash_of(one, other) == clash_of(other, one));
    return clash_of(one, other);
  };
  CHECK(both(put, access_of(5, kPut)) == Clash::memory);
  for (const AnnouncedAccess& other : {get, sum, look, swap}) CHECK(both(put, other) == Clash::memory);
  CHECK(both(get, access_of(5, kGet)) == Clash::none);
  CHECK(both(get, sum) == Clash::memory);
  CHECK(both(get, swap) == Clash::memory);
  CHECK(both(get, look) == Clash::none);
  CHECK(both(sum, access_of(5, kAccumulate)) == Clash::none);
  CHECK(both(sum, look) == Clash::none);
  CHECK(both(sum, swap) == Clash::none);
  CHECK(both(sum, access_of(5, kAccumulate, MPI_MAX)) == Clash::operations);
  CHECK(both(sum, access_of(5, kAccumulate, MPI_SUM, MPI_FLOAT)) == Clash::types);
  CHECK(both(look, access_of(5, kAccumulate, MPI_NO_OP, MPI_FLOAT)) == Clash::none);
}

TEST_CASE("hints determine which operations may mix, and whether one origin's accumulates are ordered") {
  AnnouncedAccess sum = access_of(0, kAccumulate), look = access_of(1, kAccumulate, MPI_NO_OP);
  AnnouncedAccess max = access_of(1, kAccumulate, MPI_MAX);
  sum.mixed_ops = look.mixed_ops = MixedOps::none;
  CHECK(clash_of(sum, look) == Clash::operations);
  max.mixed_ops = MixedOps::any;
  CHECK(clash_of(sum, max) == Clash::none);
  AnnouncedAccess own = access_of(0, kAccumulate, MPI_MAX);
  CHECK(clash_of(sum, own) == Clash::none);
  own.ordered = false;
  CHECK(clash_of(sum, own) == Clash::operations);
}

TEST_CASE("a conflict names the first access and both ranges, and a conflicting access is not recorded") {
  ConflictTable table;
  CHECK_FALSE(meets(table, access_of(3, kGet), {10, 20}));
  const ByteRange ranges[] = {{0, 8}, {19, 21}};
  const std::optional<Conflict> found = table.add(access_of(1, kPut), ranges);
  REQUIRE(found);
  CHECK(found->first.origin == 3);
  CHECK(found->first_range.begin == 10);
  CHECK(found->first_range.end == 20);
  CHECK(found->second_range.begin == 19);
  CHECK(found->second_range.end == 21);
  CHECK(table.ranges() == 1);
  CHECK_FALSE(meets(table, access_of(2, kPut), {0, 10}));
  CHECK_FALSE(meets(table, access_of(2, kPut), {20, 30}));
}

TEST_CASE("pieces of one access do not conflict with each other") {
  ConflictTable table;
  const AnnouncedAccess put = access_of(0, kPut);
  CHECK_FALSE(meets(table, put));
  CHECK_FALSE(meets(table, put));
  CHECK(meets(table, access_of(0, kPut)));
}

TEST_CASE("passive epochs: a flush ends all accesses of its origin, a local flush its reads") {
  ConflictTable table;
  CHECK_FALSE(meets(table, access_of(0, kGet), {0, 8}));
  CHECK_FALSE(meets(table, access_of(0, kAccumulate, MPI_NO_OP), {8, 16}));
  CHECK_FALSE(meets(table, access_of(0, kPut), {16, 24}));
  CHECK_FALSE(meets(table, access_of(1, kPut), {24, 32}));
  table.end_reads(0);
  CHECK_FALSE(meets(table, access_of(2, kPut), {0, 16}));
  CHECK(meets(table, access_of(2, kPut), {16, 24}));
  table.end_all(0);
  CHECK_FALSE(meets(table, access_of(2, kPut), {16, 24}));
  CHECK(meets(table, access_of(2, kPut), {24, 32}));
  table.end_accesses_of_lost(1);
  CHECK_FALSE(meets(table, access_of(2, kPut), {24, 32}));
}

TEST_CASE("an exposure epoch: MPI_Win_complete ends reads, MPI_Win_wait the other accesses") {
  ConflictTable table;
  CHECK_FALSE(meets(table, in_epoch(access_of(0, kGet), EpochKind::exposure), {0, 8}));
  CHECK_FALSE(meets(table, in_epoch(access_of(0, kPut), EpochKind::exposure), {8, 16}));
  table.end_all(0);
  CHECK_FALSE(meets(table, in_epoch(access_of(1, kPut), EpochKind::exposure), {0, 8}));
  CHECK(meets(table, in_epoch(access_of(1, kPut), EpochKind::exposure), {8, 16}));
  table.end_exposure();
  CHECK_FALSE(meets(table, in_epoch(access_of(1, kPut), EpochKind::exposure), {8, 16}));
}

TEST_CASE("a fence's epoch ends for members that have called the next fence, even if the target is still in that") {
  ConflictTable table;
  CHECK_FALSE(meets(table, in_epoch(access_of(0, kPut), EpochKind::fence, 1)));
  table.end_all(0);
  CHECK(meets(table, in_epoch(access_of(0, kPut), EpochKind::fence, 1)));
  CHECK(meets(table, in_epoch(access_of(1, kGet), EpochKind::fence, 1)));
  CHECK(meets(table, in_epoch(access_of(1, kGet), EpochKind::passive, 1)));
  CHECK_FALSE(meets(table, in_epoch(access_of(1, kGet), EpochKind::passive, 2)));
  CHECK(meets(table, in_epoch(access_of(0, kPut), EpochKind::passive, 2)));  // conflicts with the get of rank 1
  table.end_all(1);
  CHECK_FALSE(meets(table, in_epoch(access_of(0, kPut), EpochKind::fence, 2)));
  CHECK_FALSE(meets(table, in_epoch(access_of(1, kGet), EpochKind::fence, 2), {40, 48}));
  table.end_reads(1);
  CHECK(meets(table, in_epoch(access_of(0, kPut), EpochKind::fence, 2), {40, 48}));
  table.end_fence(2);
  CHECK(table.ranges() == 2);
  CHECK(meets(table, in_epoch(access_of(1, kPut), EpochKind::fence, 2)));
  table.end_fence(3);
  CHECK(table.ranges() == 0);
}

TEST_CASE(
    "a recorded read with a request conflicts with its own origin's accesses until it is complete, and with no other "
    "origin's") {
  ConflictTable table;
  AnnouncedAccess get = access_of(0, kGet);
  get.ends_alone = true;
  CHECK_FALSE(meets(table, get));
  CHECK(meets(table, access_of(0, kPut)));
  CHECK_FALSE(meets(table, access_of(1, kPut)));
  table.end_access(0, get.number);
  table.end_all(1);
  CHECK_FALSE(meets(table, access_of(0, kPut)));
  // A read with a request that comes second conflicts, because the first access, a put, is certainly not complete.
  AnnouncedAccess later = access_of(1, kGet);
  later.ends_alone = true;
  CHECK(meets(table, later));
}

TEST_CASE("a repeated access is recorded once") {
  ConflictTable table;
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(meets(table, access_of(0, kAccumulate)));
    CHECK_FALSE(meets(table, access_of(1, kAccumulate)));
  }
  CHECK(table.ranges() == 2);
}

TEST_CASE("the search for ranges agrees with a test of every pair") {
  struct Slow {
    AnnouncedAccess access;
    ByteRange range;
  };
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    ConflictTable table;
    std::vector<Slow> slow;
    int found = 0;
    for (int step = 0; step < 2000; ++step) {
      const auto origin = static_cast<std::int32_t>(random() % 4);
      if (random() % 16 == 0) {
        table.end_all(origin);
        std::erase_if(slow, [&](const Slow& one) { return one.access.origin == origin; });
        continue;
      }
      const std::uint64_t begin = random() % 2000;
      const ByteRange range{begin, begin + 1 + random() % (random() % 8 == 0 ? 400 : 8)};
      const AccessKind kind = random() % 4 == 0 ? kPut : random() % 2 == 0 ? kGet : kAccumulate;
      const AnnouncedAccess access = access_of(origin, kind);
      const bool expected = std::ranges::any_of(slow, [&](const Slow& one) {
        const bool overlap = one.range.begin < range.end && range.begin < one.range.end;
        return overlap && clash_of(one.access, access) != Clash::none;
      });
      CHECK(meets(table, access, range) == expected);
      if (!expected) slow.push_back({access, range});
      found += expected ? 1 : 0;
    }
    CHECK(found > 100);
    CHECK(found < 1900);
  }
}

}  // namespace margay::mpi_adi
