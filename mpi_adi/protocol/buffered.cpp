#include "mpi_adi/protocol/buffered.hpp"

#include <algorithm>
#include <string>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/send.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

portals::Status AttachedBuffer::attach(void* base, std::uint64_t bytes) {
  if (attached_) {
    return portals::Status::error("a buffer of " + std::to_string(bytes_) +
                                  " bytes is attached already; detach it with MPI_Buffer_detach first");
  }
  base_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
  attached_ = true;
  return {};
}

void AttachedBuffer::detach(void*& base, std::uint64_t& bytes) {
  MARGAY_ASSERT(idle());
  base = base_;
  bytes = bytes_;
  base_ = nullptr;
  bytes_ = 0;
  attached_ = false;
}

portals::Status AttachedBuffer::reserve(std::uint64_t bytes, std::byte*& slot) {
  if (!attached_) {
    return portals::Status::error("a buffered send needs a buffer; attach one with MPI_Buffer_attach");
  }
  // A size near 2^64 must not wrap round into a small one that fits.
  constexpr std::uint64_t kOverhead = MPI_BSEND_OVERHEAD;
  const std::uint64_t wanted = bytes > ~std::uint64_t{0} - kOverhead ? ~std::uint64_t{0} : bytes + kOverhead;
  std::uint64_t free_from = 0;
  auto at = taken_.begin();
  // First fit: the first gap between two places, or after the last, that is large enough.
  while (at != taken_.end() && at->offset - free_from < wanted) {
    free_from = at->offset + at->bytes;
    ++at;
  }
  if (at == taken_.end() && bytes_ - free_from < wanted) {
    return portals::Status::error("insufficient space in the attached buffer of " + std::to_string(bytes_) +
                                  " bytes for a buffered send of " + std::to_string(bytes) + " bytes and " +
                                  std::to_string(kOverhead) + " of overhead (" + std::to_string(taken_.size()) +
                                  " messages are in it); attach a larger one");
  }
  MARGAY_ASSERT(free_from + wanted <= (at == taken_.end() ? bytes_ : at->offset));
  taken_.insert(at, {free_from, wanted});
  slot = base_ + free_from;
  return {};
}

void AttachedBuffer::release(const std::byte* slot) {
  const auto offset = static_cast<std::uint64_t>(slot - base_);
  const auto at = std::lower_bound(taken_.begin(), taken_.end(), offset,
                                   [](const Slot& one, std::uint64_t wanted) { return one.offset < wanted; });
  MARGAY_ASSERT(at != taken_.end() && at->offset == offset);
  taken_.erase(at);
}

BufferedSends::BufferedSends(DeviceParts& parts) : parts_(parts), bytes_type_(own_bytes()) {}

portals::Status BufferedSends::send(const CheckedSend& send) {
  if (send.destination == MPI_PROC_NULL) return {};
  // Before reserve(), because a message that has left may still occupy the bytes that this send needs.
  collect();
  const std::uint64_t bytes = static_cast<std::uint64_t>(send.count) * send.type->size;
  std::byte* slot = nullptr;
  if (portals::Status status = buffer_.reserve(bytes, slot); !status.ok()) return status;
  Pieces pieces;
  const portals::Region source = pieces.to_send(send.buffer, send.count, *send.type);
  // The copy packs the elements, so the place needs no more than their bytes.
  if (bytes != 0) portals::copy(portals::Region(slot, bytes), source);
  Request& request = start_send(parts_, {SendMode::buffered, slot, static_cast<std::int64_t>(bytes), &bytes_type_,
                                         send.destination, send.tag, send.communicator, send.context, &send});
  messages_.push_back({&request, slot});
  // A short message usually leaves at once; its place is then free for the next send.
  if (request.complete) end_last();
  return {};
}

void BufferedSends::end_last() {
  MARGAY_ASSERT(!messages_.empty());
  buffer_.release(messages_.back().slot);
  mpi_adi::release(parts_, *messages_.back().request);
  messages_.pop_back();
}

void BufferedSends::collect() {
  // The entries are released in any order, because sends to different peers finish in any order.
  std::erase_if(messages_, [this](const BufferedMessage& one) {
    if (!one.request->complete) return false;
    buffer_.release(one.slot);
    mpi_adi::release(parts_, *one.request);
    return true;
  });
}

// Polled in each round of a detaching call. While the oldest message is under way, no other is tested.
bool BufferedSends::drained() {
  if (!messages_.empty() && !messages_.front().request->complete) return false;
  collect();
  return messages_.empty();
}

}  // namespace margay::mpi_adi
