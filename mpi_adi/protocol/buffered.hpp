// Buffered sends (MPI 4.0, sections 3.4 and 3.6), and the buffer that the program attaches for them. The message is
// copied into that buffer and sent from there like a standard message. The program's call is complete as soon as the
// copy is made.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/request.hpp"
#include "portals/base/status.hpp"

namespace margay::mpi_adi {

struct DeviceParts;  // mpi_adi/device/parts

// The attached buffer. First fit assigns each message a place in the buffer. The list of places lies outside of the
// buffer, so all of the buffer's bytes are usable. Each place is nevertheless MPI_BSEND_OVERHEAD bytes longer than its
// message. The standard guarantees only the room that remains with this overhead, so a program that needs more fails
// here, too, and not only with another MPI. reserve() and release() take time in proportion to the messages in the
// buffer.
class AttachedBuffer {
 public:
  // Takes the memory for buffered sends. Fails when a buffer is attached already. The program keeps the memory valid
  // and untouched until detach().
  [[nodiscard]] portals::Status attach(void* base, std::uint64_t bytes);
  // Detaches the buffer and returns it; null and 0 when none is attached. Requires: idle().
  void detach(void*& base, std::uint64_t& bytes);
  // Reserves a place for a message of `bytes`. Fails when no buffer is attached, or when no gap is large enough; the
  // error names the bytes of the message and of its overhead.
  [[nodiscard]] portals::Status reserve(std::uint64_t bytes, std::byte*& slot);
  // Frees a place. Requires: `place` comes from reserve() and was not released since.
  void release(const std::byte* slot);

  // No message is in the buffer.
  [[nodiscard]] bool idle() const { return taken_.empty(); }

 private:
  // One message's part of the buffer.
  struct Slot {
    std::uint64_t offset = 0;  // from the buffer's start
    std::uint64_t bytes = 0;   // MPI_BSEND_OVERHEAD included
  };
  // The program's memory. A buffer of 0 bytes is valid, so `attached_` is not derived from it.
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool attached_ = false;
  std::vector<Slot> taken_;  // sorted by offset, none overlaps another
};

// The buffered sends of one process, from the copy to the last byte that leaves the buffer. Under the process lock.
class BufferedSends {
 public:
  // `parts` must outlive this object.
  explicit BufferedSends(DeviceParts& parts);

  // See AttachedBuffer::attach().
  [[nodiscard]] portals::Status attach(void* base, std::uint64_t bytes) { return buffer_.attach(base, bytes); }
  // Copies the elements into the buffer and starts to send them from there. A send to MPI_PROC_NULL does nothing. Fails
  // as AttachedBuffer::reserve(), which the caller reports as MPI_ERR_BUFFER; then nothing was sent.
  [[nodiscard]] portals::Status send(const CheckedSend& send);
  // Frees the places of messages that have left the buffer. Each send() does this first, so a program that never
  // detaches does not run out of room.
  void collect();
  // Whether all messages have left, so that detach() may be called. MPI_Buffer_detach runs progress until it is true.
  // Frees the places of messages that have left. To keep a round cheap, it does so only when the oldest message has
  // left, which is the only one that it tests before.
  [[nodiscard]] bool drained();
  // Requires: drained().
  void detach(void*& base, std::uint64_t& bytes) { buffer_.detach(base, bytes); }
  // Detaches the buffer at MPI_Finalize, where its address is not needed any more. Requires: drained().
  void abandon() {
    void* base = nullptr;
    std::uint64_t bytes = 0;
    detach(base, bytes);
  }

 private:
  // A message that may still be read out of the buffer.
  struct BufferedMessage {
    Request* request = nullptr;  // from the device's pool; released when it is complete
    std::byte* slot = nullptr;
  };
  // Frees the place of the send that was started last, which is complete.
  void end_last();

  DeviceParts& parts_;
  AttachedBuffer buffer_;
  // The type of the packed copies: bytes. It is not the program's MPI_BYTE, because this object has no access to the
  // handle table.
  Datatype bytes_type_;
  // In the order of their starts, so the oldest send is the first.
  std::vector<BufferedMessage> messages_;
};

}  // namespace margay::mpi_adi
