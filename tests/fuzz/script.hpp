// The input of a fuzz target for a whole process: numbers and bytes from which the target makes messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::fuzz {

// The unread part of an input. Past its end all is zero.
class Script {
 public:
  explicit Script(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  // A number of `count` bytes.
  std::uint64_t number(unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value = value << 8 | byte();
    return value;
  }
  std::span<const std::byte> take(std::size_t count) {
    const std::span<const std::byte> taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace margay::fuzz
