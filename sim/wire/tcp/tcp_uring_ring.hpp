// An io_uring with a set of provided receive buffers. Internal to the io_uring backend.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "portals/base/status.hpp"

namespace margay::sim {

class TcpUringRing {
 public:
  static constexpr unsigned kEntries = 256;
  static constexpr unsigned kCompletions = 4096;  // more are kept by the kernel and come later (IORING_FEAT_NODROP)
  static constexpr unsigned kBuffers = 64;        // a power of two
  static constexpr std::size_t kBufferBytes = std::size_t{16} * 1024;
  static constexpr int kBufferGroup = 1;

  TcpUringRing() = default;
  TcpUringRing(const TcpUringRing&) = delete;
  TcpUringRing& operator=(const TcpUringRing&) = delete;
  ~TcpUringRing();

  // Errors name the step that the kernel refused, and the likely cause.
  [[nodiscard]] portals::Status open();
  [[nodiscard]] int descriptor() const { return ring_.ring_fd; }

  // 0, or why the kernel takes no entries any more: the descriptor is not the ring's. The rings are unmapped then, and
  // with them goes the last reference to the ring: before the unmapping returns the kernel has marked it as dying, and
  // cancels what becomes ready afterwards instead of carrying it out. No completion will come, and nothing is written
  // into a landing, but by what another thread of this process carries out in the kernel at that very moment, or while
  // a child that was forked without exec has the descriptor still.
  [[nodiscard]] int failure() const { return failure_; }
  // An empty entry; nullptr when the queue stays full although it was submitted.
  [[nodiscard]] io_uring_sqe* entry();
  // Hands the entries over. What the kernel does not take now stays for the next time.
  void submit();
  [[nodiscard]] bool unsubmitted() { return failure_ == 0 && io_uring_sq_ready(&ring_) != 0; }
  // The next completion; nullptr: none now.
  [[nodiscard]] io_uring_cqe* completion();
  void seen(io_uring_cqe* completion) { io_uring_cqe_seen(&ring_, completion); }
  [[nodiscard]] bool has_completion() { return completion() != nullptr; }
  // Submits, and blocks until a completion is there, or the ring has failed.
  void wait();

  [[nodiscard]] std::span<const std::byte> buffer(std::uint16_t id, std::size_t bytes) const {
    return {memory_ + id * kBufferBytes, bytes};
  }
  void give_back(std::uint16_t id);

 private:
  [[nodiscard]] portals::Status provide_buffers();
  void fail(int error_number);

  io_uring ring_{};
  bool open_ = false;
  int failure_ = 0;
  io_uring_buf_ring* buffers_ = nullptr;
  std::byte* memory_ = nullptr;  // the buffers, kBuffers * kBufferBytes, behind their ring
};

}  // namespace margay::sim
