// Functions that pack and unpack a value, and classes with define_type(), for tests of packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "margay/rmi/type.hpp"

namespace margay::rmi::test {

// Bytes that are aligned as those of a request.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes) : words_((bytes + 7) / 8), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> all() { return std::as_writable_bytes(std::span(words_)).first(bytes_); }
  [[nodiscard]] std::byte& operator[](std::size_t index) { return all()[index]; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t bytes_;
};

template <class T>
AlignedBytes packed(const T& value) {
  AlignedBytes bytes(packed_size(value));
  Packer packer(bytes.all());
  pack(packer, value);
  return bytes;
}

template <class T>
T unpacked(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  T value = unpack<T>(unpacker);
  unpacker.finish();
  return value;
}

template <class T>
T round_trip(const T& value) {
  AlignedBytes bytes = packed(value);
  return unpacked<T>(bytes.all());
}

// A class in the style of the paper: local and dynamic members, a C array, a class as a member.
class Track {
 public:
  Track() = default;
  Track(std::string name, std::vector<double> heights)
      : name_(std::move(name)), points_(static_cast<int>(heights.size())), heights_(new double[heights.size()]) {
    std::copy(heights.begin(), heights.end(), heights_);
  }
  Track(const Track& other) : Track(other.name_, {other.heights_, other.heights_ + other.points_}) {
    corner_[1] = other.corner_[1];
  }
  Track(Track&& other) noexcept { swap(other); }
  Track& operator=(Track other) noexcept {
    swap(other);
    return *this;
  }
  ~Track() { delete[] heights_; }

  void define_type(typer& type) {
    type.local(name_, points_, corner_);
    type.dynamic(heights_, points_);
  }

  void mark_corner(int value) { corner_[1] = value; }
  [[nodiscard]] int corner() const { return corner_[1]; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<double> heights() const { return {heights_, heights_ + points_}; }
  // Makes the object inconsistent: a pack must detect it.
  void set_points(int points) { points_ = points; }

 private:
  void swap(Track& other) noexcept {
    name_.swap(other.name_);
    std::swap(points_, other.points_);
    std::swap(heights_, other.heights_);
    std::swap(corner_, other.corner_);
  }

  std::string name_;
  int points_ = 0;
  double* heights_ = nullptr;
  int corner_[2] = {0, 0};
};

// Elements with define_type(), as dynamic members.
class Tracks {
 public:
  Tracks() = default;
  explicit Tracks(std::size_t count) : count_(count), tracks_(new Track[count]) {}
  Tracks(const Tracks&) = delete;
  Tracks(Tracks&& other) noexcept
      : count_(std::exchange(other.count_, 0)), tracks_(std::exchange(other.tracks_, nullptr)) {}
  Tracks& operator=(const Tracks&) = delete;
  ~Tracks() { delete[] tracks_; }

  void define_type(typer& type) {
    type.local(count_);
    type.dynamic(tracks_, count_);
  }
  [[nodiscard]] std::span<Track> all() { return {tracks_, count_}; }

 private:
  std::size_t count_ = 0;
  Track* tracks_ = nullptr;
};

}  // namespace margay::rmi::test
