// An algorithm as straight text that can stop in the middle: a coroutine. Where it has to wait it awaits something;
// whether that waits in place or stops is its flow's, so a call that blocks and one that does not are one text.
//
// Cost: a frame out of a pool, about 5 ns each; a wait whose message is there costs what looking costs; stopping and
// going on 5 ns.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// A condition, by reference: valid while what it was made of lives.
class Until {
 public:
  Until() = default;
  template <typename Function>
  requires(!std::is_same_v<std::remove_const_t<Function>, Until>)
      Until(Function& function)  // NOLINT(google-explicit-constructor): a reference is what is meant
      : function_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* self) { return (*static_cast<Function*>(self))(); }) {}
  [[nodiscard]] bool operator()() const { return call_(function_); }

 private:
  void* function_ = nullptr;
  bool (*call_)(void*) = nullptr;
};

// Who waits in place for a text that blocks.
class Waits {
 public:
  Waits() = default;
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
  virtual ~Waits() = default;
  // Runs the rank's progress until the condition holds, which is asked after at most `messages` of each wire.
  virtual void wait(Until done, int messages) = 0;
};

// Frames that are used again. Under the process lock.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  [[nodiscard]] void* take(std::size_t bytes) {
    const std::size_t sort = sort_of(bytes);
    if (sort < kSorts && free_[sort] != nullptr) [[likely]] {
      Frame* const frame = free_[sort];
      free_[sort] = frame->next;
      frame->pool = this;
      return frame + 1;
    }
    return make(bytes);
  }
  static void give_back(void* memory, std::size_t bytes) {
    Frame* const frame = static_cast<Frame*>(memory) - 1;
    const std::size_t sort = sort_of(bytes);
    if (sort >= kSorts) [[unlikely]]
      return drop(frame);
    FramePool& pool = *frame->pool;
    frame->next = pool.free_[sort];
    pool.free_[sort] = frame;
  }

 private:
  // What stands before a frame.
  union alignas(std::max_align_t) Frame {
    FramePool* pool;  // while it is in use
    Frame* next;      // while it is not
  };
  static constexpr std::size_t kStep = 128;
  static constexpr std::size_t kSorts = 32;
  [[nodiscard]] static std::size_t sort_of(std::size_t bytes) { return (bytes - 1) / kStep; }
  [[nodiscard, gnu::noinline]] void* make(std::size_t bytes);
  static void drop(Frame* frame);

  std::array<Frame*, kSorts> free_{};
};

// What a text runs in, with all texts that it calls: where it stopped, and for what.
class Flow {
 public:
  // `waits`: who waits in place; nullptr: it stops, and who has it calls go_on().
  Flow(FramePool& frames, Waits* waits) : frames_(frames), waits_(waits) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  [[nodiscard]] FramePool& frames() const { return frames_; }
  [[nodiscard]] bool stops() const { return waits_ == nullptr; }
  void wait(Until over, int messages) { waits_->wait(over, messages); }
  void stop(std::coroutine_handle<> at, Until over) {
    at_ = at;
    over_ = over;
  }
  // Goes on as far as it can. Returns whether the text came to its end, or has not stopped at all.
  bool go_on() {
    while (at_) {
      if (!over_()) return false;
      std::exchange(at_, nullptr).resume();
    }
    return true;
  }

 private:
  FramePool& frames_;
  Waits* waits_;
  std::coroutine_handle<> at_;
  Until over_;
};

// What a text awaits: made when it begins, advance() goes as far as it can and says whether it is over. `Self` has
// flow(), and messages(): after how many of each wire a look is worth while, for who waits in place.
template <typename Self>
class Awaitable {
 public:
  [[nodiscard]] bool await_ready() {
    if (self().advance()) return true;
    Flow& flow = self().flow();
    if (flow.stops()) return false;
    auto over = [this] { return self().advance(); };
    flow.wait(over, self().messages());
    return true;
  }
  void await_suspend(std::coroutine_handle<> at) { self().flow().stop(at, Until(*this)); }
  void await_resume() const {}
  // Of one that stopped.
  [[nodiscard]] bool operator()() { return self().advance(); }

 private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

// What a function that is such a text returns: it began at once, and may have stopped. Its first argument has frames(),
// where its frame comes from. Who calls it in a text awaits it; who calls it from outside keeps it until it is done().
class [[nodiscard]] Steps {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the language asks for this name.
  struct promise_type {
    template <typename First, typename... Rest>
    [[nodiscard]] static void* operator new(std::size_t bytes, First& first, Rest&... /*rest*/) {
      return first.frames().take(bytes);
    }
    static void operator delete(void* frame, std::size_t bytes) { FramePool::give_back(frame, bytes); }

    struct End {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
        const std::coroutine_handle<> next = ended.promise().caller;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() const noexcept {}
    };
    [[nodiscard]] Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    [[nodiscard]] End final_suspend() const noexcept { return {}; }
    void return_void() const {}
    // Nothing here throws but memory that is refused, and functions of the program's, which must not (MPI 4.0, 6.9.5).
    void unhandled_exception() const { std::terminate(); }

    std::coroutine_handle<> caller;
  };

  Steps() = default;
  Steps(Steps&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  Steps& operator=(Steps&& other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~Steps() {
    if (text_) text_.destroy();
  }

  [[nodiscard]] bool done() const { return text_.done(); }

  [[nodiscard]] bool await_ready() const { return done(); }
  void await_suspend(std::coroutine_handle<> caller) const { text_.promise().caller = caller; }
  void await_resume() const {}

 private:
  explicit Steps(std::coroutine_handle<promise_type> text) : text_(text) {}
  std::coroutine_handle<promise_type> text_;
};

// What a text would await, from outside of one. Requires: its flow waits in place.
template <typename Awaited>
void run(Awaited&& awaited) {
  const bool over = awaited.await_ready();
  MARGAY_ASSERT(over);
}

}  // namespace margay::mpi_adi
