// The context_ids that processes use. Disjoint groups may have the same ones (paper 000, section 2.3).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "libraries/zipcode/library.hpp"

namespace margay::zipcode::core {

// A set of context_ids, by bits.
class ContextSet {
 public:
  using Words = std::array<std::uint64_t, (kLastContext + 1) / 64>;

  void add(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t id = first; id < first + count; ++id) words_[id / 64] |= std::uint64_t{1} << id % 64;
  }
  void remove(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t id = first; id < first + count; ++id) words_[id / 64] &= ~(std::uint64_t{1} << id % 64);
  }
  [[nodiscard]] bool has(std::uint32_t id) const { return (words_[id / 64] >> id % 64 & 1) != 0; }
  [[nodiscard]] Words& words() { return words_; }
  [[nodiscard]] const Words& words() const { return words_; }
  // The lowest `count` successive ids that are not in the set; 0: there are none.
  [[nodiscard]] std::uint32_t find_free(std::uint32_t count) const {
    std::uint32_t free = 0;
    for (std::uint32_t id = kFirstContext; id <= kLastContext; ++id) {
      free = has(id) ? 0 : free + 1;
      if (free == count) return id - count + 1;
    }
    return 0;
  }
  void unite(const ContextSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  Words words_{};
};
static_assert((kLastContext + 1) % 64 == 0 && kFirstContext >= 1);

}  // namespace margay::zipcode::core
