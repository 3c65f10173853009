// Shared memory wires of one process, over an anonymous segment.
#pragma once

#include <sys/mman.h>

#include <memory>
#include <numeric>
#include <vector>

#include "sim/wire/shm/shm_wire.hpp"
#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {

class SharedSegment {
 public:
  explicit SharedSegment(std::uint32_t ranks) : bytes_(shm_segment_bytes(ranks)) {
    base_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(base_ != MAP_FAILED);
  }
  ~SharedSegment() { ::munmap(base_, bytes_); }
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(base_), bytes_}; }

 private:
  std::size_t bytes_;
  void* base_;
};

inline std::vector<std::uint32_t> counting(std::uint32_t ranks) {
  std::vector<std::uint32_t> worlds(ranks);
  std::iota(worlds.begin(), worlds.end(), 0U);
  return worlds;
}

class ShmSet final : public WireSet {
 public:
  explicit ShmSet(std::uint32_t ranks, LongMethod long_method = LongMethod::ring, const Clock& clock = real_clock())
      : segment_(ranks), finished_(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      wires_.push_back(std::make_unique<ShmWire>(segment_.bytes(), rank, ranks, counting(ranks), finished_[rank], 0,
                                                 long_method, clock));
      REQUIRE_MESSAGE(wires_.back()->status().ok(), wires_.back()->status().sentence());
    }
  }
  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(wires_.size()); }
  [[nodiscard]] Wire& wire(std::uint32_t rank) override { return *wires_[rank]; }
  [[nodiscard]] ShmWire& shm(std::uint32_t rank) { return *wires_[rank]; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return finished_[rank]; }
  [[nodiscard]] std::span<std::byte> segment() const { return segment_.bytes(); }

 private:
  SharedSegment segment_;
  std::vector<TransmissionList> finished_;
  std::vector<std::unique_ptr<ShmWire>> wires_;
};

}  // namespace margay::sim::test
