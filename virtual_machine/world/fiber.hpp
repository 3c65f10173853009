// A fiber: a stack, and the point at which its execution is suspended (Boost.Context). A fiber runs until it switches
// to another fiber of its thread, which it names.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace margay::virtual_machine {

// The memory of all fibers' stacks: one mapping of addresses, whose pages are allocated when they are touched. A page
// without access lies below each stack, if the system's limit on mappings permits that.
class Stacks {
 public:
  // `bytes`: of each stack, rounded up to whole pages. Throws std::bad_alloc.
  Stacks(std::size_t count, std::size_t bytes);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // The stack with this index.
  [[nodiscard]] boost::context::stack_context stack(std::size_t index) const;
  // Whether an overflow of a stack ends the process with a signal instead of overwriting the next stack.
  [[nodiscard]] bool are_guarded() const { return guarded_; }

 private:
  std::size_t count_;
  // Of a stack with the page below it.
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
  bool guarded_ = false;
};

// One fiber. Never destroyed while it is suspended inside its routine, unless the process ends: its stack would be
// lost with everything on it.
class Fiber {
 public:
  // The calling thread's own fiber, which is running.
  Fiber() = default;
  // A fiber that begins with `routine` at the first switch to it. `routine` never returns.
  Fiber(const boost::context::stack_context& stack, std::function<void()> routine);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Suspends this fiber, which is running, and runs `next`. Returns when another fiber switches to this one. Cost: some
  // 10 ns.
  void switch_to(Fiber& next);

 private:
  // The point of suspension; empty while the fiber runs.
  boost::context::fiber context_;
};

}  // namespace margay::virtual_machine
