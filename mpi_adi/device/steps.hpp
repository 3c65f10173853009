// Steps: an algorithm as a coroutine (a routine), which can suspend where it has to wait. At each wait the routine
// awaits an object, and the routine's flow decides whether the wait blocks in place or suspends the routine. So a
// blocking and a non-blocking call share one routine.
//
// Cost: about 5 ns for each frame, which comes from a pool; one test for a wait whose message has arrived; 5 ns more
// for a wait that suspends and resumes.
//
//   Steps exchange(Collective& collective, int peer, Data data) {  // the first argument has frames()
//     co_await Send(collective, peer, data);                       // an Awaitable: blocks or suspends
//     co_await bcast_along(collective, tree, data);                // another routine
//   }
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// A reference to a callable condition, valid while the callable lives. Unlike std::function, it never allocates.
class Until {
 public:
  Until() = default;
  template <typename Function>
  requires(!std::is_same_v<std::remove_const_t<Function>, Until>)
      Until(Function& function)  // NOLINT(google-explicit-constructor): a reference is what is meant
      : function_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* self) { return (*static_cast<Function*>(self))(); }) {}
  // Calls the condition. Requires: this object was not default-constructed.
  [[nodiscard]] bool operator()() const { return call_(function_); }

 private:
  void* function_ = nullptr;
  bool (*call_)(void*) = nullptr;
};

// The interface through which a blocking routine waits in place.
class Waits {
 public:
  Waits() = default;
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
  virtual ~Waits() = default;
  // Runs the rank's progress until the condition holds. The condition is tested after at most `messages` messages of
  // each wire.
  virtual void wait(Until done, int messages) = 0;
};

// A free list of coroutine frames, by size. Under the process lock. A rank's routines allocate nothing once warm.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  // A frame of at least `bytes`, aligned for any object. Sizes above kSizeClasses * kStep are allocated each time.
  [[nodiscard]] void* take(std::size_t bytes) {
    const std::size_t size_class = size_class_of(bytes);
    if (size_class < kSizeClasses && free_[size_class] != nullptr) [[likely]] {
      Frame* const frame = free_[size_class];
      // Last in, first out: the frame is probably still in the cache.
      free_[size_class] = frame->next;
      frame->pool = this;
      return frame + 1;
    }
    return make(bytes);
  }
  // Returns a frame to its pool, which must still live. Static, because the coroutine's operator delete gets no other
  // argument; the frame's prefix points to the pool.
  static void give_back(void* memory, std::size_t bytes) {
    Frame* const frame = static_cast<Frame*>(memory) - 1;
    const std::size_t size_class = size_class_of(bytes);
    if (size_class >= kSizeClasses) [[unlikely]] {
      // Too large for the lists; make() allocated exactly its bytes.
      return drop(frame);
    }
    FramePool& pool = *frame->pool;
    frame->next = pool.free_[size_class];
    pool.free_[size_class] = frame;
  }

 private:
  // The prefix of a frame: 16 bytes, so the frame behind it keeps the alignment of operator new.
  union alignas(std::max_align_t) Frame {
    FramePool* pool;  // while it is in use
    Frame* next;      // while it is not
  };
  static constexpr std::size_t kStep = 128;        // bytes; sizes are rounded up to a multiple
  static constexpr std::size_t kSizeClasses = 32;  // sizes with a free list
  [[nodiscard]] static std::size_t size_class_of(std::size_t bytes) { return (bytes - 1) / kStep; }
  // Allocates a frame: of a whole size class, or exactly `bytes`, if it is too large for all classes. Throws
  // std::bad_alloc.
  [[nodiscard, gnu::noinline]] void* make(std::size_t bytes);
  // Frees a frame's memory.
  static void drop(Frame* frame);

  // Free frames by size class, each a list.
  std::array<Frame*, kSizeClasses> free_{};
};

// The execution of a routine with all routines that it calls: the place where it is suspended, and the condition that
// resumes it. There is at most one such place, because a routine that calls another does nothing until the called
// routine ends. Owned by the call or the task that runs the routine. Under the process lock.
class Flow {
 public:
  // `waits`: blocks in place; nullptr: the routine suspends, and its owner calls go_on().
  Flow(FramePool& frames, Waits* waits) : frames_(frames), waits_(waits) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // The pool of the frames of its routines.
  [[nodiscard]] FramePool& frames() const { return frames_; }
  // Whether waits suspend the routine instead of blocking.
  [[nodiscard]] bool suspends() const { return waits_ == nullptr; }
  // Waits in place. Requires: !suspends().
  void wait(Until over, int messages) { waits_->wait(over, messages); }
  // Records the place and the condition, when a routine suspends.
  void suspend(std::coroutine_handle<> at, Until over) {
    at_ = at;
    over_ = over;
  }
  // Resumes the routine as often as its condition holds. Returns true when the routine has reached its end, or was not
  // suspended.
  bool go_on() {
    while (at_) {
      if (!over_()) return false;
      // Cleared before the routine runs, because it may suspend again, and suspend() then sets both fields.
      std::exchange(at_, nullptr).resume();
    }
    return true;
  }

 private:
  FramePool& frames_;
  Waits* waits_;
  // The place where the routine is suspended; null: it runs, or has ended.
  std::coroutine_handle<> at_;
  // The condition that resumes it; refers into the suspended frame.
  Until over_;
};

// The base of awaited objects. `Self` has three functions. advance() goes as far as it can, and returns whether the
// wait is over. flow() is the routine's flow. messages() is a bound for waits in place: the condition is tested after
// at most so many messages of each wire.
template <typename Self>
class Awaitable {
 public:
  // The language's protocol for co_await: ready, or else suspend and resume. await_ready() advances first, because most
  // waits are over by then and need no suspension. advance() may run several times.
  [[nodiscard]] bool await_ready() {
    if (self().advance()) return true;
    Flow& flow = self().flow();
    if (flow.suspends()) return false;
    auto over = [this] { return self().advance(); };
    // A blocking call: the routine continues here without having suspended.
    flow.wait(over, self().messages());
    return true;
  }
  void await_suspend(std::coroutine_handle<> at) { self().flow().suspend(at, Until(*this)); }
  void await_resume() const {}
  // The condition of a suspended wait: go_on() advances it.
  [[nodiscard]] bool operator()() { return self().advance(); }

 private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

// The handle of a routine that has started, and may be suspended or complete. A routine's first argument has a function
// frames(), which returns the pool of its coroutine frame. A routine that calls another awaits it; a caller outside of
// routines keeps the object until it is done(). The object owns the frame.
class [[nodiscard]] Steps {
 public:
  // The promise of the coroutine: the interface between the language and this class.
  // NOLINTNEXTLINE(readability-identifier-naming): the language requires this name.
  struct promise_type {
    // The frame comes from the pool that the routine's first argument names, so a routine allocates nothing once warm.
    template <typename First, typename... Rest>
    [[nodiscard]] static void* operator new(std::size_t bytes, First& first, Rest&... /*rest*/) {
      return first.frames().take(bytes);
    }
    static void operator delete(void* frame, std::size_t bytes) { FramePool::give_back(frame, bytes); }

    // The end of a routine: control passes to the routine that awaits it, by symmetric transfer, so deep chains of
    // routines do not grow the stack.
    struct End {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
        const std::coroutine_handle<> next = ended.promise().caller;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() const noexcept {}
    };
    // The caller's object, which owns the frame.
    [[nodiscard]] Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
    // A routine starts at once. Many routines end without a suspension, and their callers never wait.
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    // The frame stays until the Steps object is destroyed, so done() can be called.
    [[nodiscard]] End final_suspend() const noexcept { return {}; }
    void return_void() const {}
    // Ends the process. Only two things could throw: an allocation that fails, and a function of the program, which
    // must not throw (MPI 4.0, 6.9.5).
    void unhandled_exception() const { std::terminate(); }

    std::coroutine_handle<> caller;  // the routine that awaits this one; null: none
  };

  Steps() = default;
  // Movable, so a routine can be returned; the source owns nothing afterwards.
  Steps(Steps&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Steps& operator=(Steps&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  // Destroys the routine's locals and its frame, even if the routine is suspended.
  ~Steps() {
    if (handle_) handle_.destroy();
  }

  // Whether the routine has reached its end. Requires: not moved from, not default-constructed.
  [[nodiscard]] bool done() const { return handle_.done(); }

  // A routine is awaitable itself: one that ended during its call costs the awaiting routine one test.
  [[nodiscard]] bool await_ready() const { return done(); }
  // The awaiting routine resumes when this one ends.
  void await_suspend(std::coroutine_handle<> caller) const { handle_.promise().caller = caller; }
  void await_resume() const {}

 private:
  // Made by the promise only.
  explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  // The coroutine's frame; null: default-constructed or moved from.
  std::coroutine_handle<promise_type> handle_;
};

// Awaits an object from outside of a routine, and returns when the wait is over. Requires: its flow waits in place.
template <typename Awaited>
void run(Awaited&& awaited) {
  const bool over = awaited.await_ready();
  MARGAY_ASSERT(over);
}

}  // namespace margay::mpi_adi
