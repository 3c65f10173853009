// Seeded random numbers for property tests; a seed reproduces a failing run.
#pragma once

#include <cstdint>

namespace margay::portals::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15 + 0x1234'5678'9abc'def1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545'f491'4f6c'dd1d;
  }
  // A number from 0 to bound - 1.
  std::uint64_t below(std::uint64_t bound) { return (next() >> 16) % bound; }
  bool percent(unsigned chance) { return below(100) < chance; }
  template <class Container>
  auto& pick(Container& container) {
    return container[below(container.size())];
  }

 private:
  std::uint64_t state_;
};

// Property tests run fewer cases where each takes much longer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kFewer = 20;
#else
inline constexpr std::uint64_t kFewer = 1;
#endif

}  // namespace margay::portals::testing
