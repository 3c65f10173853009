// Accumulates. If the target's memory is mapped here, the origin performs them, otherwise the target's device does. The
// method `process` has no atomic updates, so accumulates never use it.
#include <algorithm>
#include <cstring>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/elements.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi {

namespace {

// Whether elements of `type` are one run of the operands' elements. A pair with padding counts, because it is copied
// with its padding.
bool is_run(const Datatype& type, const AccumulateOperands& operands) {
  return type.handle == operands.type || type.dense();
}

// Combines `bytes` of operands with as many at `target`; the previous elements go to `old` unless it is null.
void combine_run(const AccumulateOperands& operands, const std::byte* with, std::uint64_t bytes, std::byte* target,
                 std::byte* old, sim::AccumulateLock& lock) {
  if (operands.compare != nullptr) {
    swap_element(target, with, operands.compare, old, operands.element_bytes, lock);
  } else {
    accumulate_elements(target, with, old, bytes / operands.element_bytes, operands.op, operands.type, lock);
  }
}

// The next piece of a region of operands or results, which is empty or as long as the target's elements. Reduces
// `bytes` to the piece's length. Returns nullptr for an empty region.
std::byte* next_piece(const portals::RegionCursor& cursor, std::uint64_t& bytes) {
  if (cursor.left() == 0) return nullptr;
  const portals::Buffer piece = cursor.peek(bytes);
  bytes = piece.bytes;
  return piece.base;
}

// The target's elements. Pairs with padding are accessed with their padding, other types without their gaps.
TargetPieces pieces_of(const Access& access, const AccumulateOperands& operands, std::uint64_t bytes) {
  return access.target_type->handle == operands.type ? TargetPieces(bytes)
                                                     : TargetPieces(*access.target_type, access.target_count);
}

}  // namespace

void Rma::accumulate(Window& window, const Access& access, const AccumulateOperands& operands) {
  const WindowTarget& to = window.target(access.target);
  const std::uint64_t bytes = operands.count * operands.element_bytes;
  if (bytes == 0) return;
  const WindowMethod method = to.method == WindowMethod::direct ? WindowMethod::direct : WindowMethod::message;
  count_access(window, access, operands.call, method, bytes);
  if (method == WindowMethod::message) return accumulate_by_messages(window, access, operands);
  // The lock belongs to the memory's owner, so all origins use the same one.
  sim::AccumulateLock lock = accumulate_lock(to);
  // One run on both sides, the common case, needs no list of pieces.
  if (is_run(*access.target_type, operands) && operands.elements.contiguous() &&
      (!access.has_result() || is_run(*access.type, operands))) {
    auto* const result = static_cast<std::byte*>(access.buffer);
    return combine_run(operands, operands.elements.single().base, bytes, to.base + access.offset, result, lock);
  }
  TargetPieces pieces = pieces_of(access, operands, bytes);
  Pieces here;
  portals::RegionCursor elements(operands.elements);
  portals::RegionCursor room(result_room(access, operands, here));
  while (pieces.left() != 0) {
    // A run ends where a piece of the target, of the operands or of the result ends. Each run has whole elements.
    std::uint64_t taken = 0;
    const Piece piece = pieces.take(1, bytes, taken).front();
    for (std::uint64_t done = 0; done < piece.bytes;) {
      std::uint64_t run = piece.bytes - done;
      static_cast<void>(next_piece(elements, run));
      std::byte* const old = next_piece(room, run);
      // Peeked again, because the result's piece may have shortened the run.
      const std::byte* const with = next_piece(elements, run);
      combine_run(operands, with, run, to.base + access.offset + piece.offset + done, old, lock);
      if (with != nullptr) elements.skip(run);
      if (old != nullptr) room.skip(run);
      done += run;
    }
  }
}

portals::Region Rma::result_room(const Access& access, const AccumulateOperands& operands, Pieces& pieces) {
  if (!access.has_result()) return {};
  // Results of the operands' type are written with their padding, like the elements in the window.
  const bool as_it_lies = access.type->handle == operands.type;
  if (as_it_lies) return {access.buffer, static_cast<std::size_t>(operands.count * operands.element_bytes)};
  return pieces.to_receive(access.buffer, access.count, *access.type);
}

// Each window request has whole elements. Each element is updated atomically, but the access as a whole is not atomic.
void Rma::accumulate_by_messages(Window& window, const Access& access, const AccumulateOperands& operands) {
  WindowTarget& to = window.target(access.target);
  const std::uint64_t bytes = operands.count * operands.element_bytes;
  // A multiple of the element, so no element is split between two window requests.
  const std::uint64_t limit = kOperandBytesPerRequest - kOperandBytesPerRequest % operands.element_bytes;
  Pieces here;
  const portals::Region room = result_room(access, operands, here);
  TargetPieces pieces = pieces_of(access, operands, bytes);
  std::vector<Piece> part;
  while (pieces.left() != 0) {
    const std::uint64_t at = bytes - pieces.left();
    WindowRequestHead head;
    head.kind = operands.compare != nullptr ? WindowRequestKind::swap : WindowRequestKind::accumulate;
    head.op = operands.op;
    head.type = operands.type;
    head.offset = access.offset;
    // One run needs no pieces: the head's offset and bytes describe it.
    if (is_run(*access.target_type, operands)) {
      head.offset += at;
      head.bytes = std::min(pieces.left(), limit);
      pieces.skip(head.bytes);
    } else {
      part = pieces.take(kPiecesPerRequest, limit, head.bytes);
    }
    if (access.has_result()) {
      head.reply_bits = reply_bits_of(expect(window, access.target, room.slice(at, head.bytes), access.request, &here));
    } else if (is_alone(window, to)) {
      // Nothing else is under way to the target: an empty answer now costs less than a flush later.
      head.reply_bits = reply_bits_of(expect(window, access.target, {}, nullptr, nullptr));
      head.bare_answer = 1;
    } else {
      to.unflushed = true;
    }
    // With a result, the request completes with the answer, which proves that the operands were read.
    Outstanding* const request = access.has_result() ? nullptr : access.request;
    send_window_request(window, access.target, head, part, operands,
                        operands.elements.bytes() != 0 ? operands.elements.slice(at, head.bytes) : portals::Region(),
                        request);
  }
}

}  // namespace margay::mpi_adi
