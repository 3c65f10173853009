// Buffered sends: the message is copied into the buffer that the program attached, and sent from there like a standard
// message; for the program it is over at once. (MPI 4.0, sections 3.4 and 3.6.)
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/request.hpp"
#include "portals/base/status.hpp"

namespace margay::mpi_adi {

struct DeviceParts;  // mpi_adi/device/parts

// Gives out places in the attached buffer, by first fit. Its books lie outside the buffer; each place still counts
// MPI_BSEND_OVERHEAD more than its message, as the standard's arithmetic lets a program expect no better.
class AttachedBuffer {
 public:
  // Error: one is attached already. `base` is this object's until detach().
  [[nodiscard]] portals::Status attach(void* base, std::uint64_t bytes);
  // Gives the buffer back; null and 0 without one. Requires: idle().
  void detach(void*& base, std::uint64_t& bytes);
  // A place for a message of `bytes`. Error: nothing attached, or no room; says how much is missing.
  [[nodiscard]] portals::Status reserve(std::uint64_t bytes, std::byte*& place);
  // Requires: `place` comes from reserve().
  void release(const std::byte* place);

  [[nodiscard]] bool idle() const { return taken_.empty(); }

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // overhead included
  };
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool attached_ = false;
  std::vector<Place> taken_;  // by offset
};

// The buffered sends of one process. Under the process lock.
class BufferedSends {
 public:
  // `parts` outlive this object.
  explicit BufferedSends(DeviceParts& parts);

  [[nodiscard]] portals::Status attach(void* base, std::uint64_t bytes) { return buffer_.attach(base, bytes); }
  // Copies the elements and sends them. Error (MPI_ERR_BUFFER): as AttachedBuffer::reserve; nothing was sent.
  [[nodiscard]] portals::Status send(const CheckedSend& send);
  // Frees the places of messages that are through.
  void collect();
  // All messages are through: detach() may be called. The caller of MPI_Buffer_detach waits for it with progress.
  [[nodiscard]] bool drained();
  // Requires: drained().
  void detach(void*& base, std::uint64_t& bytes) { buffer_.detach(base, bytes); }
  // The same at MPI_Finalize: the memory is the program's again.
  void abandon() {
    void* base = nullptr;
    std::uint64_t bytes = 0;
    detach(base, bytes);
  }

 private:
  struct UnderWay {
    Request* request = nullptr;
    std::byte* place = nullptr;
  };
  void end_last();

  DeviceParts& parts_;
  AttachedBuffer buffer_;
  Datatype bytes_type_;
  std::vector<UnderWay> under_way_;
};

}  // namespace margay::mpi_adi
