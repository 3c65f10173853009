// A file mapped into memory, shared; unmapped at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "portals/base/status.hpp"

namespace margay::sim {

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // The whole of `descriptor`'s file must hold `bytes`; the descriptor stays the caller's. Error: names bytes and
  // errno.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t bytes, Mapping& out);
  // Private memory of zeros that is taken when touched.
  [[nodiscard]] static portals::Status anonymous(std::uint64_t bytes, Mapping& out);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace margay::sim
