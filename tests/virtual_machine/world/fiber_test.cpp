// Tests of fibers: they run in turns on stacks of their own.
#include "virtual_machine/world/fiber.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace margay::virtual_machine {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} * 1024;

TEST_CASE("fiber: two fibers and the thread's own pass the processor to each other by name") {
  const Stacks stacks(2, kStackBytes);
  std::string order;
  Fiber own;
  std::unique_ptr<Fiber> first, second;
  first = std::make_unique<Fiber>(stacks.stack(0), [&] {
    order += 'a';
    first->switch_to(*second);
    order += 'c';
    first->switch_to(own);
  });
  second = std::make_unique<Fiber>(stacks.stack(1), [&] {
    order += 'b';
    second->switch_to(*first);
    order += 'e';
    second->switch_to(own);
  });
  own.switch_to(*first);
  order += 'd';
  own.switch_to(*second);
  CHECK_EQ(order, "abcde");
  // Their routines never return, so their stacks are not unwound.
  static_cast<void>(first.release());
  static_cast<void>(second.release());
}

TEST_CASE("fiber: thousands of stacks, each with its own variables") {
  constexpr std::size_t kFibers = 20'000;
  const Stacks stacks(kFibers, kStackBytes);
  CHECK_FALSE(stacks.are_guarded());
  Fiber own;
  std::vector<Fiber*> fibers(kFibers);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kFibers; ++i) {
    fibers[i] = new Fiber(stacks.stack(i), [&, i] {  // NOLINT(cppcoreguidelines-owning-memory): see above
      volatile std::size_t mine = i;
      fibers[i]->switch_to(own);
      sum += mine;
      fibers[i]->switch_to(own);
    });
  }
  for (int turn = 0; turn < 2; ++turn)
    for (Fiber* fiber : fibers) own.switch_to(*fiber);
  CHECK_EQ(sum, kFibers * (kFibers - 1) / 2);
}

}  // namespace
}  // namespace margay::virtual_machine
