#include "virtual_machine/world/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <utility>

namespace margay::virtual_machine {

namespace {

namespace context = boost::context;

// A process may have 65,530 mappings. A guarded stack takes two.
constexpr std::size_t kGuardedMax = 16'384;

// The fiber that the latest switch has suspended. The fiber that continues stores the point of suspension in it.
constinit Fiber* leaving = nullptr;

std::size_t page_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Boost.Context asks for an allocator, which may only free what Stacks owns.
struct NoAllocator {
  void deallocate(context::stack_context& /*stack*/) const {}
};

}  // namespace

Stacks::Stacks(std::size_t count, std::size_t bytes) : count_(count), guarded_(count <= kGuardedMax) {
  const std::size_t page = page_bytes();
  bytes_ = (bytes + page - 1) / page * page + page;
  void* const memory =
      ::mmap(nullptr, count_ * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  // A huge page for each stack would take 2 MiB of memory.
  ::madvise(memory_, count_ * bytes_, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; guarded_ && i < count_; ++i)
    if (::mprotect(memory_ + i * bytes_, page, PROT_NONE) != 0) guarded_ = false;
}

Stacks::~Stacks() {
  ::munmap(memory_, count_ * bytes_);
}

context::stack_context Stacks::stack(std::size_t index) const {
  context::stack_context stack;
  // A stack grows downwards, so its address is its end.
  stack.sp = memory_ + (index + 1) * bytes_;
  stack.size = bytes_ - page_bytes();
  return stack;
}

Fiber::Fiber(const context::stack_context& stack, std::function<void()> routine)
    : context_(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), NoAllocator(),
               [routine = std::move(routine)](context::fiber&& from) -> context::fiber {
                 leaving->context_ = std::move(from);
                 routine();
                 std::abort();
               }) {}

void Fiber::switch_to(Fiber& next) {
  leaving = this;
  context::fiber from = std::move(next.context_).resume();
  leaving->context_ = std::move(from);
}

}  // namespace margay::virtual_machine
