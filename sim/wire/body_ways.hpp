// Which of two ways long bodies of one channel take: through the byte ring (two copies, both processors at once) or
// read out of the sender's memory (one copy, by a system call). Which is faster depends on the machine and on the
// body's size: measured one way, of 256 KiB, 3 GB/s apart in one direction on one machine and 40 GB/s in the other on
// another. So the receiver, who sees both ways from the header to the last byte, measures, and tells the sender through
// shared memory what it prefers; the sender tries both at first, and the other one now and then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace margay::sim {

// Sizes of bodies that are measured apart: the byte ring's cost changes where a body is longer than the ring.
inline constexpr std::size_t kBodyClasses = 3;
[[nodiscard]] constexpr std::size_t body_class(std::uint64_t length) {
  constexpr std::uint64_t kMiddle = std::uint64_t{64} * 1024;
  constexpr std::uint64_t kLarge = std::uint64_t{1024} * 1024;
  return length < kMiddle ? 0 : length < kLarge ? 1 : 2;
}

// What a receiver prefers, two bits for each class; 0 where it does not know yet. A hint: any value is safe.
using BodyPreferences = std::uint64_t;
enum class BodyPreference : std::uint8_t { unknown = 0, ring = 1, reading = 2 };
[[nodiscard]] constexpr BodyPreference preference(BodyPreferences all, std::size_t size_class) {
  return static_cast<BodyPreference>((all >> (2 * size_class)) & 3U);
}

// The receiver's side. All times in nanoseconds.
class BodyTimes {
 public:
  // A body of `length` bytes begins to come.
  void begin(std::uint64_t length, bool reading, std::uint64_t now_ns) {
    length_ = length;
    reading_ = reading;
    began_ns_ = now_ns;
  }
  // The body that began last is here. Returns whether preferences() changed.
  bool end(std::uint64_t now_ns);
  [[nodiscard]] BodyPreferences preferences() const { return preferences_; }

 private:
  struct Way {
    std::uint32_t samples = 0;
    double ns_per_byte = 0;  // a moving mean
  };
  struct Class {
    Way ring, reading;
  };

  std::array<Class, kBodyClasses> classes_;
  BodyPreferences preferences_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t began_ns_ = 0;
  bool reading_ = false;
};

// The sender's side: which way the next body goes.
class BodyWayChooser {
 public:
  // Whether to offer it for reading.
  [[nodiscard]] bool reading(std::uint64_t length, BodyPreferences preferences);

 private:
  std::array<std::uint32_t, kBodyClasses> sent_{};
};

}  // namespace margay::sim
