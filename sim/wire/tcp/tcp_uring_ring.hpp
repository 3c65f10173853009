// An io_uring with a set of provided receive buffers. Internal to the io_uring backend.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "portals/base/status.hpp"

namespace margay::sim {

// The ring and its buffers, which it owns. Used under the process lock.
class TcpUringRing {
 public:
  // The most operations between two submissions. A full queue is submitted at once.
  static constexpr unsigned kEntries = 256;
  // The number of completions that the ring has room for. The operating system keeps further completions, and delivers
  // them later (IORING_FEAT_NODROP).
  static constexpr unsigned kCompletions = 4096;
  // The number of provided buffers; a power of two.
  static constexpr unsigned kBuffers = 64;
  static constexpr std::size_t kBufferBytes = std::size_t{16} * 1024;
  static constexpr int kBufferGroup = 1;

  TcpUringRing() = default;
  TcpUringRing(const TcpUringRing&) = delete;
  TcpUringRing& operator=(const TcpUringRing&) = delete;
  ~TcpUringRing();

  // Creates the ring. A failure names the step that was refused, and the likely cause.
  [[nodiscard]] portals::Status open();
  // The ring's file descriptor, which is readable when there is a completion.
  [[nodiscard]] int descriptor() const { return ring_.ring_fd; }

  // 0, or the errno with which the operating system refuses entries, because the program has closed or replaced the
  // ring's descriptor. After a failure the rings are unmapped, which ends the last reference to them. Before the
  // unmapping returns, the operating system has marked the ring as dying, and it cancels operations that become ready
  // afterwards.
  //
  // So no completion will arrive, and nothing more is written into a landing. There are two exceptions: an operation
  // that another thread of this process carries out at that moment, and a child that was forked without exec and still
  // has the descriptor.
  [[nodiscard]] int failure() const { return failure_; }
  // Returns an empty entry; nullptr: the queue stays full although it was submitted, or the ring has failed.
  [[nodiscard]] io_uring_sqe* entry();
  // Submits the entries. Entries that the operating system does not take now stay for the next call.
  void submit();
  // Whether entries wait for submit().
  [[nodiscard]] bool unsubmitted() { return failure_ == 0 && io_uring_sq_ready(&ring_) != 0; }
  // The next completion; nullptr: there is none now.
  [[nodiscard]] io_uring_cqe* completion();
  // Frees a completion's entry. The caller must have copied its content.
  void release(io_uring_cqe* completion) { io_uring_cqe_seen(&ring_, completion); }
  [[nodiscard]] bool has_completion() { return completion() != nullptr; }
  // Submits, and blocks until there is a completion or the ring has failed.
  void wait();

  // The first `bytes` of provided buffer `id`, to which a completion refers. The buffer belongs to the backend until
  // give_back().
  [[nodiscard]] std::span<const std::byte> buffer(std::uint16_t id, std::size_t bytes) const {
    return {memory_ + id * kBufferBytes, bytes};
  }
  // Provides a buffer again.
  void give_back(std::uint16_t id);

 private:
  // Allocates the buffers and registers their ring.
  [[nodiscard]] portals::Status provide_buffers();
  // Records a failure, and unmaps the rings; see failure().
  void fail(int error_number);

  io_uring ring_{};
  // The ring has been created, so the destructor must close it.
  bool open_ = false;
  // See failure().
  int failure_ = 0;
  // The ring by which buffers are provided; in one mapping with memory_.
  io_uring_buf_ring* buffers_ = nullptr;
  // The buffers, kBuffers * kBufferBytes bytes, after their ring.
  std::byte* memory_ = nullptr;
};

}  // namespace margay::sim
