// A fiber: a stack, and the point at which its execution is suspended (Boost.Context). A fiber runs until it switches
// to another fiber of its thread, which it names.
//
// Switches are announced to AddressSanitizer, which keeps the bounds of the stack in use, and to ThreadSanitizer, which
// keeps a stack of calls for each thread. If only the program is compiled with AddressSanitizer, its run-time library
// is informed.
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
// lost with everything on it. ThreadSanitizer permits 8,000 fibers.
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
  // The first step after each switch, on the stack of the fiber that continues. `from`: the point at which the previous
  // one is suspended.
  void arrive(boost::context::fiber&& from);

  // Empty for the thread's own fiber.
  std::function<void()> routine_;
  // The point of suspension; empty while the fiber runs.
  boost::context::fiber context_;
  // For AddressSanitizer: the lowest address and the size of the stack, which it reports for a thread's own stack at
  // the first switch from it; and its replacement for the stack (detect_stack_use_after_return) while the fiber is
  // suspended.
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
  // ThreadSanitizer's record of the fiber; nullptr without it.
  void* record_ = nullptr;
};

}  // namespace margay::virtual_machine
