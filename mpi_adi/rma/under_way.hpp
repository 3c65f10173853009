// Counts what is under way to a target, so that a wait takes what was begun before it and not what other threads of the
// rank begin meanwhile. Each has a generation; a wait begins a new one as soon as the one before the last is over, so
// two counters are enough, and a wait sees two of them end at most.
#pragma once

#include <array>
#include <cstdint>

namespace margay::mpi_adi {

class UnderWay {
 public:
  [[nodiscard]] bool none() const { return (counts_[0] | counts_[1]) == 0; }
  // The generation that end() is to be given.
  [[nodiscard]] std::uint32_t begin() {
    ++counts_[generation_ % 2];
    return generation_;
  }
  void end(std::uint32_t generation) { --counts_[generation % 2]; }

  // A wait's beginning, ...
  [[nodiscard]] std::uint32_t now() const { return generation_; }
  // ... and whether what was under way then is over. Asked again and again until it is.
  [[nodiscard]] bool over(std::uint32_t then) {
    if (none()) return true;
    if (generation_ == then) {
      if (counts_[(then + 1) % 2] != 0) return false;
      ++generation_;
    }
    // The next generation but one began because this one was over.
    return generation_ - then > 1 || counts_[then % 2] == 0;
  }

 private:
  std::uint32_t generation_ = 0;
  std::array<std::uint32_t, 2> counts_{};  // of the last generation and the one before
};

}  // namespace margay::mpi_adi
