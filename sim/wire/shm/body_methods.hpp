// The choice between two methods for the long bodies of one channel: through the byte ring (each side copies every
// byte), or from memory to memory (one copy of each byte, by system calls, and each side copies a part of the body).
// The faster method depends on the machine and on the body's size. With bodies of 256 KiB in one direction, one machine
// was faster by 6 GB/s with one method, and another machine was faster by 40 GB/s with the other method. So the
// receiver measures its cost per byte with each method, and publishes its preference in shared memory. The sender tries
// both methods at first. Later it uses the preferred method, and tries the other one now and then.
//
// The receiver measures the time that it spends on copying, not the time from a body's beginning to its end, because
// bodies of a stream overlap: a body in the ring has partly arrived before the receiver begins it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace margay::sim {

// Size classes of bodies. They are measured separately, because the byte ring's cost changes for bodies that are longer
// than the ring.
inline constexpr std::size_t kBodyClasses = 4;
[[nodiscard]] constexpr std::size_t body_class(std::uint64_t length) {
  constexpr std::uint64_t kKi = 1024;
  return length < 64 * kKi ? 0 : length < 256 * kKi ? 1 : length < 1024 * kKi ? 2 : 3;
}

// A receiver's preferences: two bits for each size class, 0 while there is no preference. A hint: any value is safe.
using BodyPreferences = std::uint64_t;
enum class BodyPreference : std::uint8_t { unknown = 0, ring = 1, reading = 2 };
// The preference for one size class. A damaged word gives an arbitrary preference.
[[nodiscard]] constexpr BodyPreference preference(BodyPreferences all, std::size_t size_class) {
  return static_cast<BodyPreference>((all >> (2 * size_class)) & 3U);
}

// The receiver's measurements for one channel. All times are in nanoseconds.
class BodyTimes {
 public:
  // A body of `length` bytes begins to arrive. `reading`: it is read out of the sender's memory.
  void begin(std::uint64_t length, bool reading) {
    first_of_its_method_ = last_was_reading_ != reading;
    last_was_reading_ = reading;
    which_ = body_class(length);
    bytes_ = ns_ = 0;
  }
  // This process copied `bytes` of the arriving body in `ns`.
  void record_copy(std::uint64_t bytes, std::uint64_t ns) {
    bytes_ += bytes;
    ns_ += ns;
  }
  // The body is complete. Returns whether preferences() changed.
  bool end();
  // The preferences, which the caller publishes to the sender.
  [[nodiscard]] BodyPreferences preferences() const { return preferences_; }

 private:
  // One method's measurements.
  struct Method {
    // Number of samples. Not increased any more once it suffices for a preference.
    std::uint32_t samples = 0;
    // A moving mean of the samples, without the first ones.
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
  // Whether the arriving body is read; nullopt before the first body.
  std::optional<bool> last_was_reading_;
  // Whether the arriving body is the first one, or the previous body used the other method. If so, the caches are not
  // filled for this method, and the arriving body is not counted.
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
