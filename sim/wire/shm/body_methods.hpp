// The choice between two methods for the long bodies of one channel: through the byte ring (each side copies every
// byte), or from memory to memory (one copy of each byte, by system calls, shared by both sides). The faster one
// depends on the machine and on the body's size: with 256 KiB in one direction, one method was 6 GB/s faster on one
// machine, and the other 40 GB/s faster on another. So the receiver measures its cost per byte with each method, and
// publishes its preference in shared memory. The sender tries both methods at first; later it uses the preferred one,
// and tries the other one now and then.
//
// The measure is the time that the receiver spends on copying, not the time from a body's beginning to its end: in a
// stream bodies overlap, and one that comes through the ring has partly arrived before it begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace margay::sim {

// Size classes that are measured separately: the byte ring's cost changes where a body is longer than the ring.
inline constexpr std::size_t kBodyClasses = 4;
[[nodiscard]] constexpr std::size_t body_class(std::uint64_t length) {
  constexpr std::uint64_t kKi = 1024;
  return length < 64 * kKi ? 0 : length < 256 * kKi ? 1 : length < 1024 * kKi ? 2 : 3;
}

// A receiver's preferences, two bits for each size class; 0 while it has none. A hint: any value is safe.
using BodyPreferences = std::uint64_t;
enum class BodyPreference : std::uint8_t { unknown = 0, ring = 1, reading = 2 };
// The preference for one size class; a damaged word gives some value.
[[nodiscard]] constexpr BodyPreference preference(BodyPreferences all, std::size_t size_class) {
  return static_cast<BodyPreference>((all >> (2 * size_class)) & 3U);
}

// The receiver's measurements. All times in nanoseconds. One for each channel, at its receiver.
class BodyTimes {
 public:
  // A body of `length` bytes begins to arrive. `reading`: out of the sender's memory.
  void begin(std::uint64_t length, bool reading) {
    first_of_its_method_ = last_was_reading_ != reading;
    last_was_reading_ = reading;
    which_ = body_class(length);
    bytes_ = ns_ = 0;
  }
  // This process copied `bytes` of it in `ns`.
  void record_copy(std::uint64_t bytes, std::uint64_t ns) {
    bytes_ += bytes;
    ns_ += ns;
  }
  // The body is complete. Returns whether preferences() changed.
  bool end();
  // To be published to the sender.
  [[nodiscard]] BodyPreferences preferences() const { return preferences_; }

 private:
  // One method's measurements.
  struct Method {
    // Not counted further once there are enough for a preference.
    std::uint32_t samples = 0;
    // A moving mean, without the first samples.
    double ns_per_byte = 0;
  };
  // Both methods' costs for one size class.
  struct Class {
    Method ring, reading;
  };

  std::array<Class, kBodyClasses> classes_;
  // Changed by end() only.
  BodyPreferences preferences_ = 0;
  // The arriving body: its size class, and the bytes and time measured so far.
  std::size_t which_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ns_ = 0;
  // Whether the arriving body is read; nothing before the first body.
  std::optional<bool> last_was_reading_;
  // Whether the body before the arriving one used the other method. If so, the caches are filled for that method, and
  // the arriving body is not counted.
  bool first_of_its_method_ = true;
};

// The sender's side: chooses the method of the next body.
class BodyMethodChooser {
 public:
  // Whether to offer a body of this length for reading. Counts the body.
  [[nodiscard]] bool reading(std::uint64_t length, BodyPreferences preferences);

 private:
  // Bodies sent so far, by size class.
  std::array<std::uint32_t, kBodyClasses> sent_{};
};

}  // namespace margay::sim
