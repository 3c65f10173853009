// Tests of a handle's counts: only events between its start and its stop count.
#include "mpi/tool/variable/accumulator.hpp"

#include <doctest/doctest.h>

#include <array>

namespace margay::mpi {
namespace {

using Two = std::array<Word, 2>;

Two shown(const Accumulator& sums, const Two& now) {
  Two out{77, 77};
  sums.read(now, out);
  return out;
}

TEST_CASE("a handle starts at 0 and counts between its start and its stop") {
  Accumulator sums(2);
  CHECK(shown(sums, {10, 20}) == Two{0, 0});
  sums.start(Two{10, 20});
  CHECK(sums.started());
  CHECK(shown(sums, {13, 20}) == Two{3, 0});
  sums.start(Two{13, 20});  // a second start has no effect
  CHECK(shown(sums, {14, 21}) == Two{4, 1});
  sums.stop(Two{15, 22});
  CHECK_FALSE(sums.started());
  CHECK(shown(sums, {99, 99}) == Two{5, 2});
  sums.stop(Two{99, 99});  // a second stop has no effect
  sums.start(Two{100, 100});
  CHECK(shown(sums, {101, 102}) == Two{6, 4});
}

TEST_CASE("a handle continues from a written or reset value") {
  Accumulator sums(2);
  sums.start(Two{0, 0});
  sums.write(Two{5, 5}, Two{100, 200});
  CHECK(shown(sums, {6, 8}) == Two{101, 203});
  sums.reset(Two{6, 8});
  CHECK(shown(sums, {7, 8}) == Two{1, 0});
  sums.stop(Two{7, 8});
  sums.write(Two{7, 8}, Two{3, 3});
  CHECK(shown(sums, {50, 50}) == Two{3, 3});
}

TEST_CASE("a sum that restarted at 0 adds only its new part") {
  Accumulator sums(2);
  sums.start(Two{10, 10});
  CHECK(shown(sums, {0, 12}) == Two{0, 2});
}

}  // namespace
}  // namespace margay::mpi
