#include "virtual_machine/world/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <utility>

// Of the run-time libraries of AddressSanitizer and ThreadSanitizer (<sanitizer/common_interface_defs.h>,
// <sanitizer/asan_interface.h>, <sanitizer/tsan_interface.h>); null in a process without them.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom, std::size_t* old_bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

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

// Boost.Context requires an allocator. Its deallocate() does nothing, because Stacks owns the memory.
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
  // Earlier stacks at these addresses may have left marks around their variables.
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(memory_, count_ * bytes_);
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
    : routine_(std::move(routine)),
      stack_bottom_(static_cast<std::byte*>(stack.sp) - stack.size),
      stack_bytes_(stack.size) {
  // Boost.Context enters the new stack and returns at once. Calls on it that have not returned belong to its record.
  void* const own_record = __tsan_get_current_fiber != nullptr ? __tsan_get_current_fiber() : nullptr;
  if (own_record != nullptr) {
    record_ = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(record_, 0);
  }
  context_ = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), NoAllocator(),
                            [this](context::fiber&& from) -> context::fiber {
                              arrive(std::move(from));
                              routine_();
                              std::abort();
                            });
  if (own_record != nullptr) __tsan_switch_to_fiber(own_record, 0);
}

void Fiber::switch_to(Fiber& next) {
  leaving = this;
  if (__sanitizer_start_switch_fiber != nullptr)
    __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
  if (__tsan_switch_to_fiber != nullptr) {
    record_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(next.record_, 0);
  }
  context::fiber from = std::move(next.context_).resume();
  arrive(std::move(from));
}

void Fiber::arrive(context::fiber&& from) {
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(fake_stack_, &leaving->stack_bottom_, &leaving->stack_bytes_);
  leaving->context_ = std::move(from);
}

}  // namespace margay::virtual_machine
