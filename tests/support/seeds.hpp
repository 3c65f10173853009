// The seeds that a test runs: 1 to `count`, or MARGAY_SEED alone when the environment has it, so that a failing run is
// repeated by one number.
//
//   for (const std::uint64_t seed : Seeds(1000)) { CAPTURE(seed); ... }
#pragma once

#include <cstdint>
#include <cstdlib>

namespace margay::testing {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// How many seeds a test with one thread runs: the thread sanitizer can find nothing in it, so a tenth will do there.
constexpr std::uint64_t of_one_thread(std::uint64_t seeds) {
  return kThreadSanitizer ? (seeds + 9) / 10 : seeds;
}

class Seeds {
 public:
  explicit Seeds(std::uint64_t count) : first_(1), end_(count + 1) {
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

 private:
  std::uint64_t first_;
  std::uint64_t end_;
};

}  // namespace margay::testing
