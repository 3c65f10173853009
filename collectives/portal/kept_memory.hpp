// Memory that calls need for their time, kept for the next one: what malloc gives back to the system at each call's
// end, as it does with rows of megabytes, costs a page fault for each 4 KiB of the next call (a scan of 1 MiB of 2
// ranks: 880 us, of which 105 are the scan). Under the process lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace margay::collectives {

class KeptMemory {
 public:
  // Kept at most; what is longer goes back to the system at once.
  static constexpr std::uint64_t kKeptBytes = std::uint64_t{32} << 20;
  // Below this malloc keeps it itself.
  static constexpr std::uint64_t kLongBytes = std::uint64_t{32} << 10;

  // A run of bytes, not initialized, aligned for any datatype. Goes back where it came from, which it may outlive.
  class Run {
   public:
    Run() = default;
    Run(Run&& other) noexcept
        : memory_(std::move(other.memory_)),
          bytes_(std::exchange(other.bytes_, 0)),
          keeper_(std::move(other.keeper_)) {}
    Run& operator=(Run&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(bytes_, other.bytes_);
      std::swap(keeper_, other.keeper_);
      return *this;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() {
      if (keeper_ != nullptr) keeper_->keep(std::move(memory_), bytes_);
    }
    [[nodiscard]] std::byte* get() const { return memory_.get(); }

   private:
    friend class KeptMemory;
    std::unique_ptr<std::byte[]> memory_;
    std::uint64_t bytes_ = 0;
    std::shared_ptr<KeptMemory> keeper_;
  };
  [[nodiscard]] static Run take(const std::shared_ptr<KeptMemory>& from, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Free {
    std::unique_ptr<std::byte[]> memory;
    std::uint64_t bytes;
  };
  void keep(std::unique_ptr<std::byte[]> memory, std::uint64_t bytes);

  std::vector<Free> free_;  // the oldest first
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace margay::collectives
