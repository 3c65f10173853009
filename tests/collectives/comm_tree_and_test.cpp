// The bitwise and over some ranks, over the virtual wire: several at once, ranks that come late, a lost rank.
#include "collectives/comm/tree_and.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>

#include "collectives/comm/internal_tag.hpp"
#include "tests/mpi_adi/device_world.hpp"

namespace margay::collectives {

namespace {

constexpr std::size_t kWords = 3;
using Words = std::array<std::uint64_t, kWords>;

// One operation of one rank.
struct Part {
  std::uint32_t rank = 0;
  Words mine{}, words{};
  std::optional<TreeAnd> tree;
  bool over = false;
};

struct Operation {
  std::vector<Part> parts;
  Words expected{};

  Operation(mpi_adi::VirtualWorld& world, int tag) {
    std::vector<int> ranks(world.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), world.random());
    ranks.resize(1 + world.random()() % world.size());
    expected.fill(~std::uint64_t{0});
    parts = std::vector<Part>(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Part& part = parts[i];
      part.rank = static_cast<std::uint32_t>(ranks[i]);
      for (std::size_t k = 0; k < kWords; ++k) {
        part.mine[k] = world.random()() | world.random()() | world.random()();
        expected[k] &= part.mine[k];
      }
      part.tree.emplace(world.device(part.rank), world.bytes(), world.world(part.rank), ranks, static_cast<int>(i),
                        tag);
    }
  }
  // Begins for one of the ranks.
  void begin(Part& part) {
    part.words = part.mine;
    part.over = false;
    part.tree->start(part.words);
  }
  [[nodiscard]] bool step() {
    bool all = true;
    for (Part& part : parts) {
      part.over = part.over || part.tree->step();
      all &= part.over;
    }
    return all;
  }
};

}  // namespace

TEST_CASE("several operations at once, twice each, by ranks that come at different times") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    mpi_adi::WorldOptions options;
    options.ranks = 9;
    options.seed = seed;
    mpi_adi::VirtualWorld world(options);
    std::vector<std::unique_ptr<Operation>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(
          std::make_unique<Operation>(world, internal_tag(Agreement::sequence, static_cast<std::uint64_t>(i))));
    }
    for (int round = 0; round < 2; ++round) {
      std::vector<std::pair<Operation*, Part*>> order;
      for (auto& one : all) {
        for (Part& part : one->parts) order.emplace_back(one.get(), &part);
      }
      std::shuffle(order.begin(), order.end(), world.random());
      for (auto [operation, part] : order) {
        operation->begin(*part);
        for (std::uint64_t steps = world.random()() % 5; steps > 0; --steps) static_cast<void>(world.step());
        part->over = part->tree->step();
      }
      CHECK(world.until([&] {
        bool over = true;
        for (auto& one : all) over &= one->step();
        return over;
      }));
      for (auto& one : all) {
        for (const Part& part : one->parts) {
          CHECK(part.words == one->expected);
          CHECK(part.tree->error_class() == MPI_SUCCESS);
        }
      }
    }
    world.settle();
    world.check_accounting();
  }
}

TEST_CASE("a participant that is lost before it takes part is told to all others") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    mpi_adi::WorldOptions options;
    options.ranks = 7;
    options.seed = seed;
    mpi_adi::VirtualWorld world(options);
    Operation operation(world, internal_tag(Agreement::create_group, 5));
    if (operation.parts.size() < 2) continue;
    Part& lost = operation.parts[world.random()() % operation.parts.size()];
    for (Part& part : operation.parts) {
      if (&part != &lost) operation.begin(part);
    }
    lost.over = true;
    for (std::uint64_t steps = world.random()() % 20; steps > 0; --steps) static_cast<void>(world.step());
    world.network().lose(lost.rank);
    CHECK(world.until([&] { return operation.step(); }));
    for (const Part& part : operation.parts) {
      if (&part != &lost) CHECK(part.tree->error_class() == MPIX_ERR_PROC_FAILED);
    }
  }
}

TEST_CASE("internal tags are told apart, and none is a wildcard") {
  CHECK(internal_tag(Agreement::create_group, 7) == 7);
  for (int bit = 0; bit < static_cast<int>(mpi_adi::kUserTagBits); ++bit) {
    const auto tag = static_cast<std::uint64_t>(mpi_adi::kUserTagMax - (1 << bit));
    CHECK(internal_tag(Agreement::create_group, tag) != internal_tag(Agreement::create_group, mpi_adi::kUserTagMax));
  }
  CHECK(internal_tag(Agreement::intercomm, 7) != 7);
  CHECK(internal_tag(Agreement::sequence, 7) != internal_tag(Agreement::intercomm, 7));
  for (const auto kind : {Agreement::create_group, Agreement::intercomm, Agreement::sequence}) {
    CHECK(internal_tag(kind, ~std::uint64_t{0}) != MPI_ANY_TAG);
  }
}

}  // namespace margay::collectives
