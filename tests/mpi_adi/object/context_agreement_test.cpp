// Tests of many agreements among many processes, with their rounds interleaved by a seed. Each agreement ends, all its
// members get the same pair of contexts, and no process gets a pair twice.
#include "mpi_adi/object/context_agreement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace margay::mpi_adi {

namespace {

constexpr std::uint64_t kAny = ContextAgreement::kAnyGeneration;

// One agreement among some processes, round by round; members enter it at different times.
struct Shared {
  std::vector<int> members;
  std::vector<std::unique_ptr<ContextAgreement>> parts;  // null: the member has not entered
  bool over = false;

  [[nodiscard]] bool all_came() const {
    return std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part != nullptr; });
  }
  void round() {
    std::vector<std::uint64_t> words(parts[0]->words().size(), ~std::uint64_t{0});
    for (const auto& part : parts) {
      REQUIRE(part->words().size() == words.size());
      for (std::size_t i = 0; i < words.size(); ++i) words[i] &= part->words()[i];
    }
    for (const auto& part : parts) {
      std::copy(words.begin(), words.end(), part->words().begin());
      over = part->combined();
    }
  }
};

std::vector<int> some_of(int processes, std::mt19937& random) {
  std::vector<int> members;
  for (int process = 0; process < processes; ++process) {
    if (random() % 2 == 0) members.push_back(process);
  }
  if (members.empty()) members.push_back(0);
  return members;
}

}  // namespace

TEST_CASE("a process that enters no other agreement finishes in one round, with the lowest pair") {
  ContextPool one, other;
  one.take(0);
  other.take(1);
  Shared shared{{0, 1}, {}, false};
  shared.parts.push_back(std::make_unique<ContextAgreement>(one, 7, true, 1234));
  shared.parts.push_back(std::make_unique<ContextAgreement>(other, 7, true, kAny));
  shared.round();
  CHECK(shared.over);
  CHECK(shared.parts[0]->agreed().context == 4);
  CHECK(shared.parts[1]->agreed().context == 4);
  CHECK(shared.parts[0]->agreed().generation == 1234);
  CHECK(shared.parts[1]->agreed().generation == 1234);
  CHECK(!one.is_free(2));
  CHECK(one.is_free(1));
}

TEST_CASE("concurrent agreements end with different pairs") {
  constexpr int kProcesses = 5, kAgreements = 12;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<ContextPool> pools(kProcesses);
    // Few pairs are left, so that agreements compete for them.
    for (ContextPool& pool : pools) {
      for (int pair = kAgreements + 2; pair < ContextPool::kPairs; ++pair) pool.take(pair);
    }
    std::vector<Shared> all(kAgreements);
    for (Shared& one : all) {
      one.members = some_of(kProcesses, random);
      one.parts.resize(one.members.size());
    }
    int open = kAgreements, steps = 0;
    while (open > 0) {
      REQUIRE(++steps < 200'000);
      const auto number = static_cast<std::uint32_t>(random() % kAgreements);
      Shared& one = all[number];
      if (one.over) continue;
      const std::size_t member = random() % one.members.size();
      if (one.parts[member] == nullptr) {
        ContextPool& pool = pools[static_cast<std::size_t>(one.members[member])];
        one.parts[member] = std::make_unique<ContextAgreement>(pool, number, false, kAny);
      } else if (one.all_came()) {
        one.round();
        if (one.over) --open;
      }
    }
    for (int process = 0; process < kProcesses; ++process) {
      std::vector<int> contexts;
      for (const Shared& one : all) {
        for (std::size_t i = 0; i < one.members.size(); ++i) {
          CHECK(one.parts[i]->agreed().context == one.parts[0]->agreed().context);
          if (one.members[i] == process) contexts.push_back(one.parts[i]->agreed().context);
        }
      }
      std::sort(contexts.begin(), contexts.end());
      CHECK(std::adjacent_find(contexts.begin(), contexts.end()) == contexts.end());
      CHECK((contexts.empty() || contexts.front() >= 0));
      // All temporary reservations are free again.
      int free = 0;
      for (int pair = 0; pair < kAgreements + 2; ++pair) {
        if (pools[static_cast<std::size_t>(process)].is_free(pair)) ++free;
      }
      CHECK(free == kAgreements + 2 - static_cast<int>(contexts.size()));
    }
  }
}

TEST_CASE("while the last pair is only reserved, no member gets the error that all are used up") {
  ContextPool pool;
  for (int pair = 1; pair < ContextPool::kPairs; ++pair) pool.take(pair);
  // A process alone: its words are already the combination of all members' words.
  auto first = std::make_unique<ContextAgreement>(pool, 1, false, kAny);
  CHECK(!first->combined());
  CHECK(!pool.is_free(0));
  ContextAgreement second(pool, 2, false, kAny);
  CHECK(!second.combined());
  CHECK(!second.combined());
  first.reset();
  for (int round = 0; round < 3; ++round) {
    if (second.combined()) break;
  }
  CHECK(second.agreed().context == 0);
}

TEST_CASE("an agreement that no other member joins delays no other agreement") {
  ContextPool one, other;
  const ContextAgreement waiting(one, 1, false, kAny);  // its other member is busy below
  Shared shared{{0, 1}, {}, false};
  shared.parts.push_back(std::make_unique<ContextAgreement>(one, 2, true, kAny));
  shared.parts.push_back(std::make_unique<ContextAgreement>(other, 2, true, kAny));
  shared.round();
  CHECK(!shared.over);  // not alone, so it tests again whether the pair is still free
  shared.round();
  CHECK(shared.over);
}

TEST_CASE("an agreement without a free pair ends with an error") {
  ContextPool one, other;
  for (int pair = 0; pair < ContextPool::kPairs; ++pair) (pair % 2 == 0 ? one : other).take(pair);
  for (const bool blocking : {true, false}) {
    Shared shared{{0, 1}, {}, false};
    shared.parts.push_back(std::make_unique<ContextAgreement>(one, 1, blocking, kAny));
    shared.parts.push_back(std::make_unique<ContextAgreement>(other, 1, blocking, kAny));
    shared.round();
    CHECK(shared.over);
    CHECK(shared.parts[0]->agreed().context == -1);
  }
}

TEST_CASE("an aborted agreement returns its pair") {
  ContextPool one, other;
  {
    Shared shared{{0, 1}, {}, false};
    shared.parts.push_back(std::make_unique<ContextAgreement>(one, 3, false, kAny));
    shared.parts.push_back(std::make_unique<ContextAgreement>(other, 3, false, kAny));
    shared.round();
    CHECK(!shared.over);
    CHECK(one.free() != ContextPool().free());
  }
  CHECK(one.free() == ContextPool().free());
}

}  // namespace margay::mpi_adi
