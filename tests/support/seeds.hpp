// The seeds that a test runs: 1 to `count`, the first third of them with QUICK_TESTS (scripts/test without --all), or
// MARGAY_SEED alone when the environment has it, so that a failing run is repeated by one number.
//
//   for (const std::uint64_t seed : Seeds(1000)) { CAPTURE(seed); ... }
#pragma once

#include <cstdint>
#include <cstdlib>

namespace margay::testing {

#if defined(__has_feature)  // clang's; g++ defines the others
#if __has_feature(thread_sanitizer)
#define MARGAY_TEST_TSAN
#elif __has_feature(address_sanitizer)
#define MARGAY_TEST_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(MARGAY_TEST_TSAN)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(MARGAY_TEST_ASAN)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitizer;
#endif

// How many seeds a test with one thread runs: the thread sanitizer can find nothing in it, so a tenth will do there.
constexpr std::uint64_t of_one_thread(std::uint64_t seeds) {
  return kThreadSanitizer ? (seeds + 9) / 10 : seeds;
}

// How often a race between threads is tried: under a sanitizer each time costs ten times as much.
constexpr std::uint64_t of_threads(std::uint64_t times) {
  return kSanitized ? (times + 9) / 10 : times;
}

class Seeds {
 public:
  explicit Seeds(std::uint64_t count)
      : first_(1), end_((std::getenv("QUICK_TESTS") != nullptr ? (count + 2) / 3 : count) + 1) {
    if (const char* text = std::getenv("MARGAY_SEED")) {
      first_ = std::strtoull(text, nullptr, 10);
      end_ = first_ + 1;
    }
  }

  class Iterator {
   public:
    explicit Iterator(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t operator*() const { return seed_; }
    Iterator& operator++() {
      ++seed_;
      return *this;
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.seed_ != b.seed_; }

   private:
    std::uint64_t seed_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(end_); }
  // The number of seeds, for tests that expect something of all of them together.
  [[nodiscard]] std::uint64_t count() const { return end_ - first_; }

 private:
  std::uint64_t first_;
  std::uint64_t end_;
};

}  // namespace margay::testing
