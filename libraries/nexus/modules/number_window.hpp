// A replay window: the latest 1,024 message numbers of one sender, and which of them have arrived. Older numbers are
// refused, because they may be repetitions.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace margay::nexus::core {

// Numbers begin with 0. One thread.
class NumberWindow {
 public:
  static constexpr std::uint64_t kNumbers = 1024;

  // Whether `number` has neither arrived nor left the window.
  [[nodiscard]] bool is_new(std::uint64_t number) const {
    if (number >= end_) return true;
    return end_ - number <= kNumbers && !seen_[number % kNumbers];
  }
  // Notes the arrival of `number`. Requires: is_new(number).
  void note(std::uint64_t number) {
    if (number >= end_) {
      if (number - end_ >= kNumbers) seen_.reset();
      // At most kNumbers steps: the numbers between, which have not arrived, take the places of old ones.
      else
        for (std::uint64_t one = end_; one < number; ++one) seen_[one % kNumbers] = false;
      end_ = number + 1;
    }
    seen_[number % kNumbers] = true;
  }
  // One more than the greatest number that has arrived; 0: none has.
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  std::bitset<kNumbers> seen_;
  std::uint64_t end_ = 0;
};

}  // namespace margay::nexus::core
