// Memory for one call: a short run lies in the caller's frame, so that a short reduction allocates nothing; a long one
// is kept for the next call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

class Scratch {
 public:
  Scratch(const Collective& collective, std::uint64_t bytes) {
    if (bytes > kInFrameBytes) own_ = collective.portal().take_memory(bytes);
  }
  // Aligned for any datatype.
  [[nodiscard]] std::byte* base() { return own_.get() != nullptr ? own_.get() : in_frame_.data(); }

 private:
  static constexpr std::uint64_t kInFrameBytes = 256;
  alignas(std::max_align_t) std::array<std::byte, kInFrameBytes> in_frame_;  // not initialized
  KeptMemory::Run own_;
};

}  // namespace margay::collectives
