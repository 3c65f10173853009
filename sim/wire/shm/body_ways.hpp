// Which of two ways long bodies of one channel take: through the byte ring (each side copies every byte) or from memory
// to memory (one copy of each byte, by system calls, shared by both sides). Which is faster depends on the machine and
// on the body's size: measured one way, of 256 KiB, 6 GB/s apart in one direction on one machine and 40 GB/s in the
// other on another. So the receiver measures what a byte costs it in each way, and tells the sender through shared
// memory what it prefers; the sender tries both at first, and the other one now and then.
//
// What counts is the time that the receiver spends on copying, not the time from a body's beginning to its end: in a
// stream bodies overlap, and one that comes through the ring has come in part before it begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace margay::sim {

// Sizes of bodies that are measured apart: the byte ring's cost changes where a body is longer than the ring.
inline constexpr std::size_t kBodyClasses = 4;
[[nodiscard]] constexpr std::size_t body_class(std::uint64_t length) {
  constexpr std::uint64_t kKi = 1024;
  return length < 64 * kKi ? 0 : length < 256 * kKi ? 1 : length < 1024 * kKi ? 2 : 3;
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
  void begin(std::uint64_t length, bool reading) {
    first_of_its_way_ = last_was_reading_ != reading;
    last_was_reading_ = reading;
    which_ = body_class(length);
    bytes_ = ns_ = 0;
  }
  // `bytes` of it were copied by this process, in so much time.
  void copied(std::uint64_t bytes, std::uint64_t ns) {
    bytes_ += bytes;
    ns_ += ns;
  }
  // It is here. Returns whether preferences() changed.
  bool end();
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
  std::size_t which_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ns_ = 0;
  std::optional<bool> last_was_reading_;
  bool first_of_its_way_ = true;  // the body before it came the other way: the caches hold what that needs
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
