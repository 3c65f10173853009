#include "mpi_adi/protocol/send_common.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Only the peer may answer. Its rank is part of the criteria, so no other rank can complete this send.
portals::Criteria from(const SendRequest& request) {
  portals::Criteria criteria;
  criteria.match_bits = answer_bits_of(request);
  criteria.source_rank = request.peer;
  return criteria;
}

}  // namespace

portals::MatchBits answer_bits_of(const SendRequest& request) {
  return answer_bits(request.pooled.index, request.pooled.generation);
}

void listen(DeviceParts& parts, SendRequest& request) {
  MARGAY_ASSERT(!request.listening);
  portals::Options options;
  options.save = portals::Save::header;
  request.answer_entry.set(from(request), request.answer_block, options);
  parts.acknowledgment_list.append(request.answer_entry);
  request.listening = true;
}

void make_readable(DeviceParts& parts, SendRequest& request) {
  MARGAY_ASSERT(!request.readable);
  portals::Options options;
  options.save = portals::Save::body;
  options.direction = portals::Direction::read_only;
  // The get names its offset, so the descriptor needs no cursor of its own.
  options.offset_by = portals::OffsetBy::sender;
  // A body that is one run needs a single block only. A datatype's pieces are read through a combined block, without
  // packing.
  portals::Descriptor* memory = nullptr;
  if (request.body.contiguous()) {
    memory = &request.read_single.emplace(request.body.single());
  } else {
    memory = &request.read_combined.emplace(request.body);
  }
  memory->set_owner_tag(&request, kOwnerRead);
  request.read_entry.set(from(request), *memory, options);
  parts.read_list.append(request.read_entry);
  request.readable = true;
}

void hand_over(DeviceParts& parts, SendRequest& request, const portals::Header& header, const portals::Region& body) {
  // Each request has one transmission, which the kernel must not have already.
  MARGAY_ASSERT((request.events & kEventBodyTaken) == 0);
  request.transmission.header = header;
  request.transmission.body = body;
  expect_event(request, kEventBodyTaken);
  parts.kernel.send(request.transmission);
}

void expect_answer(DeviceParts& parts, SendRequest& request) {
  MARGAY_ASSERT(!request.expecting);
  parts.kernel.expect_answer(request.peer);
  request.expecting = true;
}

void complete_if_finished(DeviceParts& parts, SendRequest& request) {
  if (request.events != 0 || request.complete) return;
  // None of the three holds for a plain short send, which therefore does not pay the call.
  if (request.listening || request.readable || request.expecting) close(parts, request);
  request.pieces.clear();
  complete(parts, request);
}

void close(DeviceParts& parts, SendRequest& request) {
  if (request.listening) parts.acknowledgment_list.remove(request.answer_entry);
  if (request.readable) parts.read_list.remove(request.read_entry);
  request.listening = request.readable = false;
  if (request.expecting) parts.kernel.count_answer(request.peer);
  request.expecting = false;
}

}  // namespace margay::mpi_adi
