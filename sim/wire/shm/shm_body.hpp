// The four places of a body in a channel of shared memory. Sender and receiver compute the place in the same way:
//  - in the cell, after the head, if it fits;
//  - up to kWholeBodyBytes: in the byte ring, complete before its cell is published;
//  - above: in the byte ring, chunk by chunk after its cell is published, so that both sides copy at the same time;
//  - if its head has kFlagReadBody, not in the channel: the receiver reads it out of the sender's memory
//    (process_memory.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/limits.hpp"
#include "sim/shm/cell_data.hpp"
#include "sim/trace/event.hpp"

namespace margay::sim {

// The longest body that is handed over whole. In chunks, both sides copy at the same time, but each chunk moves a cache
// line between the processors, which costs more than a short body gains. 8 KiB one way: 1.29 us whole, 1.47 us in
// chunks of 4 KiB; 16 KiB: 2.31 us whole, 2.87 us in chunks of 8 KiB.
inline constexpr std::size_t kWholeBodyBytes = kShortLimitBytesShm;
static_assert(kWholeBodyBytes <= kByteRingBytes / 8);

// The shortest body that may be offered for reading. For a shorter body the system call costs more than the second
// copy, and the sender would have to wait until the body is read.
inline constexpr std::size_t kReadBodyMinBytes = kWholeBodyBytes + 1;

// The longest head of a message whose body is offered, because the offer follows the head in the cell.
inline constexpr std::size_t kOfferHeadMaxBytes = kCacheLineBytes - sizeof(ReadOffer);

// The four places, in the order above.
enum class BodyMethod : std::uint8_t { in_cell, before_cell, after_cell, by_reading };
// The number of a place in traces.
[[nodiscard]] constexpr TraceBody trace_body(BodyMethod method) {
  switch (method) {
    case BodyMethod::in_cell:
      return TraceBody::cell;
    case BodyMethod::before_cell:
      return TraceBody::ring;
    case BodyMethod::after_cell:
      return TraceBody::ring_in_parts;
    case BodyMethod::by_reading:
      return TraceBody::read;
  }
  return TraceBody::none;
}
// The place of a body that is not offered for reading. Both sides compute it, so it depends only on values that both
// have: the head's and the body's length.
[[nodiscard]] constexpr BodyMethod shm_body_method(std::size_t head_bytes, std::uint64_t length) {
  if (length <= kCacheLineBytes - head_bytes) return BodyMethod::in_cell;
  return length <= kWholeBodyBytes ? BodyMethod::before_cell : BodyMethod::after_cell;
}

}  // namespace margay::sim
