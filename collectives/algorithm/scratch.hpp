// Memory for one call: a short run lies in the caller's frame, so that a short reduction allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace margay::collectives {

class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) {
    if (bytes > kInFrameBytes) own_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
  // Aligned for any datatype.
  [[nodiscard]] std::byte* base() { return own_ != nullptr ? own_.get() : in_frame_.data(); }

 private:
  static constexpr std::uint64_t kInFrameBytes = 256;
  alignas(std::max_align_t) std::array<std::byte, kInFrameBytes> in_frame_;  // not initialized
  std::unique_ptr<std::byte[]> own_;
};

}  // namespace margay::collectives
