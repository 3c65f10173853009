// Tests of fibers: they run in turns on stacks of their own.
#include "virtual_machine/world/fiber.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace margay::virtual_machine {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} * 1024;

// Kept until the end of the process: the routines never return, so their stacks are not unwound.
Fiber* make_fiber(const boost::context::stack_context& stack, std::function<void()> routine) {
  static auto& fibers = *new std::vector<std::unique_ptr<Fiber>>;
  fibers.push_back(std::make_unique<Fiber>(stack, std::move(routine)));
  return fibers.back().get();
}

TEST_CASE("fiber: two fibers and the thread's own pass the processor to each other by name") {
  const Stacks stacks(2, kStackBytes);
  std::string order;
  Fiber own;
  Fiber* first = nullptr;
  Fiber* second = nullptr;
  first = make_fiber(stacks.stack(0), [&] {
    order += 'a';
    first->switch_to(*second);
    order += 'c';
    first->switch_to(own);
  });
  second = make_fiber(stacks.stack(1), [&] {
    order += 'b';
    second->switch_to(*first);
    order += 'e';
    second->switch_to(own);
  });
  own.switch_to(*first);
  order += 'd';
  own.switch_to(*second);
  CHECK_EQ(order, "abcde");
}

// ThreadSanitizer permits 8,000.
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define FIBERS_MAX 4'000
#endif
#endif
#ifndef FIBERS_MAX
#define FIBERS_MAX 20'000
#endif

TEST_CASE("fiber: thousands of stacks, each with its own variables") {
  constexpr std::size_t kFibers = FIBERS_MAX;
  const Stacks stacks(20'000, kStackBytes);
  CHECK_FALSE(stacks.are_guarded());
  Fiber own;
  std::vector<Fiber*> fibers(kFibers);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kFibers; ++i) {
    fibers[i] = make_fiber(stacks.stack(i), [&, i] {
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

// Together the fibers are deeper than ThreadSanitizer permits for one thread (65,536 calls).
TEST_CASE("fiber: many fibers that are suspended inside nested calls") {
  constexpr int kFibers = 500;
  constexpr int kDepth = 200;
  const Stacks stacks(kFibers, 2 * kStackBytes);
  Fiber own;
  std::vector<Fiber*> fibers(kFibers);
  int sum = 0;
  // NOLINTNEXTLINE(misc-no-recursion)
  const auto descend = [&](const auto& self, int fiber, int depth) -> int {
    if (depth == 0) fibers[static_cast<std::size_t>(fiber)]->switch_to(own);
    return depth == 0 ? 0 : 1 + self(self, fiber, depth - 1);
  };
  for (int i = 0; i < kFibers; ++i) {
    const auto index = static_cast<std::size_t>(i);
    fibers[index] = make_fiber(stacks.stack(index), [&, i, index] {
      sum += descend(descend, i, kDepth);
      fibers[index]->switch_to(own);
    });
  }
  for (int turn = 0; turn < 2; ++turn)
    for (Fiber* fiber : fibers) own.switch_to(*fiber);
  CHECK_EQ(sum, kFibers * kDepth);
}

// AddressSanitizer marks the memory around a stack's variables until their function returns.
TEST_CASE("fiber: the memory of stacks that are gone can be used again") {
  const std::byte* first_stack = nullptr;
  for (int round = 0; round < 2; ++round) {
    const Stacks stacks(1, kStackBytes);
    const boost::context::stack_context stack = stacks.stack(0);
    auto* const begin = static_cast<std::byte*>(stack.sp) - stack.size;
    if (round == 0) first_stack = begin;
    WARN_EQ(begin, first_stack);  // the kernel's usual choice
    std::memset(begin, 0, stack.size);
    Fiber own;
    Fiber* const fiber = make_fiber(stack, [&] {
      char text[100];
      std::memset(text, 'a', sizeof text);
      CHECK_EQ(std::string(text, sizeof text), std::string(100, 'a'));
      fiber->switch_to(own);
    });
    own.switch_to(*fiber);
  }
}

}  // namespace
}  // namespace margay::virtual_machine
