// A typed buffer: the arguments of a remote service request (paper 003, 2.2). The sender puts them, and the handler
// gets them in the same order. The buffer stores the type of each element, so a get of another type, or past the end,
// is an error instead of a wrong value. Typed elements are an addition to the paper, from the manual of Nexus.
//
// Format, in the byte order of the machine: for each put, one byte Type, four bytes of count, then the elements. A
// string is characters; a startpoint is its encoded bytes (libraries/nexus/table.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace margay::nexus {

class Startpoint;

// The types of elements. The values are part of the format.
enum class Type : std::uint8_t {
  int8 = 1,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  boolean,
  byte,
  text,
  startpoint
};
// "int32", "text" and so on; "unknown type" for other values.
[[nodiscard]] const char* name(Type type);

// The maximum number of elements of one put, and of bytes of a startpoint in a buffer.
inline constexpr std::uint32_t kElementsMost = 0x7fff'ffff;

// The C++ types of elements.
template <typename T>
concept Element = std::is_arithmetic_v<T> || std::same_as<T, std::byte>;

// The Type of a C++ type: by its size and kind, so that `long` and `long long` agree.
template <Element T>
[[nodiscard]] constexpr Type type_of() {
  if constexpr (std::same_as<T, bool>) {
    return Type::boolean;
  } else if constexpr (std::same_as<T, std::byte>) {
    return Type::byte;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "long double is not an element; convert it to double");
    return sizeof(T) == 4 ? Type::float32 : Type::float64;
  } else {
    constexpr Type kFirst = std::is_signed_v<T> ? Type::int8 : Type::uint8;
    constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<Type>(static_cast<int>(kFirst) + kLog);
  }
}

// The buffer. Owns its bytes, except in a handler, where it refers to the arrived message and is valid until the
// handler returns. Copies own their bytes.
class Buffer {
 public:
  Buffer() = default;
  // A view of arrived bytes. Used by Nexus.
  [[nodiscard]] static Buffer view(std::span<const std::byte> bytes);
  Buffer(const Buffer& other);
  Buffer& operator=(const Buffer& other);
  Buffer(Buffer&& other) noexcept = default;
  Buffer& operator=(Buffer&& other) noexcept = default;
  ~Buffer() = default;

  // Appends elements. Throws `error` in a view. put() returns the buffer, so that puts can be chained.
  template <Element T>
  Buffer& put(T value) {
    return append(type_of<T>(), 1, &value, sizeof value);
  }
  template <Element T>
  Buffer& put(std::span<const T> values) {
    return append(type_of<T>(), values.size(), values.data(), values.size_bytes());
  }
  template <Element T>
  requires(!std::same_as<T, bool>) Buffer& put(const std::vector<T>& values) { return put(std::span<const T>(values)); }
  Buffer& put(std::string_view text) { return append(Type::text, text.size(), text.data(), text.size()); }
  Buffer& put(const char* text) { return put(std::string_view(text)); }
  Buffer& put(const std::string& text) { return put(std::string_view(text)); }
  // Puts a startpoint: the receiver gets a copy whose links mirror the original's, with tables and choices. A light
  // startpoint travels without tables. Throws `error` if it is not bound.
  Buffer& put(const Startpoint& startpoint);

  // Takes the next put. T is an element, std::string, std::vector of an element, or Startpoint. Throws `error`, which
  // names both types, if the next put has another type or count, or at the end; the position is then unchanged.
  template <typename T>
  [[nodiscard]] T get() {
    if constexpr (std::same_as<T, std::string>) {
      const Run run = take(Type::text, 0, false);
      return std::string(reinterpret_cast<const char*>(run.base), run.count);
    } else if constexpr (Element<T>) {
      const Run run = take(type_of<T>(), 1, true);
      T value;
      std::memcpy(&value, run.base, sizeof value);
      return value;
    } else if constexpr (std::same_as<T, Startpoint>) {
      T startpoint;
      take_startpoint(startpoint);
      return startpoint;
    } else {
      using Member = typename T::value_type;
      const Run run = take(type_of<Member>(), 0, false);
      T values(run.count);
      if (run.count != 0) std::memcpy(values.data(), run.base, run.count * sizeof(Member));
      return values;
    }
  }
  // Copies the next put into `values`. Throws `error` unless the counts are equal.
  template <Element T>
  void get(std::span<T> values) {
    const Run run = take(type_of<T>(), values.size(), true);
    if (!values.empty()) std::memcpy(values.data(), run.base, values.size_bytes());
  }

  // The type of the next put, and its count. Throws `error` at the end.
  [[nodiscard]] Type next_type() const;
  [[nodiscard]] std::size_t next_count() const;
  // Whether every put has been taken. rewind() returns to the first one.
  [[nodiscard]] bool at_end() const { return next_ == bytes().size(); }
  void rewind() { next_ = 0; }
  // The encoded bytes. Used by Nexus and tests.
  [[nodiscard]] std::span<const std::byte> bytes() const { return is_view_ ? view_ : std::span<const std::byte>(own_); }

 private:
  struct Run {
    const std::byte* base;
    std::size_t count;
  };
  struct Head {
    Type type;
    std::size_t count;
    std::size_t bytes;  // of the elements, which are in the buffer
  };
  Buffer& append(Type type, std::size_t count, const void* base, std::size_t bytes);
  // The next put's head, checked against the bytes.
  [[nodiscard]] Head head() const;
  // Takes the next put. `exact`: it has exactly `count` elements.
  [[nodiscard]] Run take(Type type, std::size_t count, bool exact);
  void take_startpoint(Startpoint& out);

  std::vector<std::byte> own_;
  std::span<const std::byte> view_;
  bool is_view_ = false;
  std::size_t next_ = 0;
};

}  // namespace margay::nexus
