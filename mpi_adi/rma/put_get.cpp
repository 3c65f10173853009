// Puts and gets, by the method of access to the target.
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi {

namespace {

std::uint64_t bytes_of(const Access& access) {
  return static_cast<std::uint64_t>(access.count) * access.type->size;
}

}  // namespace

void Rma::put(Window& window, const Access& access) {
  const WindowTarget& to = window.target(access.target);
  const std::uint64_t bytes = bytes_of(access);
  if (bytes == 0) return;
  if (to.method == WindowMethod::direct) {
    // One copy between two regions. Nothing is packed, for any two datatypes.
    count_access(window, access, sim::TraceAccess::put, WindowMethod::direct, bytes);
    Pieces here, there;
    return portals::copy(there.to_receive(to.base + access.offset, access.target_count, *access.target_type),
                         here.to_send(access.buffer, access.count, *access.type));
  }
  if (to.method == WindowMethod::process && copy_through_system(window, access, true)) {
    return count_access(window, access, sim::TraceAccess::put, WindowMethod::process, bytes);
  }
  count_access(window, access, sim::TraceAccess::put, WindowMethod::message, bytes);
  put_by_messages(window, access);
}

void Rma::get(Window& window, const Access& access) {
  const WindowTarget& to = window.target(access.target);
  const std::uint64_t bytes = bytes_of(access);
  if (bytes == 0) return;
  if (to.method == WindowMethod::direct) {
    count_access(window, access, sim::TraceAccess::get, WindowMethod::direct, bytes);
    Pieces here, there;
    return portals::copy(here.to_receive(access.buffer, access.count, *access.type),
                         there.to_send(to.base + access.offset, access.target_count, *access.target_type));
  }
  if (to.method == WindowMethod::process && copy_through_system(window, access, false)) {
    return count_access(window, access, sim::TraceAccess::get, WindowMethod::process, bytes);
  }
  count_access(window, access, sim::TraceAccess::get, WindowMethod::message, bytes);
  get_by_messages(window, access);
}

// False if the operating system refuses the copy; nothing happened then.
bool Rma::copy_through_system(Window& window, const Access& access, bool write) {
  WindowTarget& to = window.target(access.target);
  if (to.peer == nullptr) to.peer = &peers_.try_emplace(to.local_rank, node_->memory_of(to.local_rank)).first->second;
  Pieces here, there;
  const portals::Region mine = here.to_receive(access.buffer, access.count, *access.type);
  // Addresses in the other process, never dereferenced here.
  const portals::Region theirs = there.to_receive(to.base + access.offset, access.target_count, *access.target_type);
  sim::ReadFault fault = sim::ReadFault::none;
  // The common case: one call without lists of pieces.
  if (to.writable && mine.contiguous() && theirs.contiguous()) [[likely]] {
    const auto address = reinterpret_cast<std::uintptr_t>(theirs.single().base);
    fault = write ? to.peer->write(mine.single(), address) : to.peer->read(mine.single(), address);
  } else {
    fault = write ? to.peer->write(mine, theirs) : to.peer->read(mine, theirs);
  }
  if (fault == sim::ReadFault::refused) {
    // Set for all later accesses, which would be refused, too.
    to.method = WindowMethod::message;
    return false;
  }
  // A fault in the target's memory is the program's error, reported at the next synchronisation.
  if (fault != sim::ReadFault::none) {
    keep_error(window, fault == sim::ReadFault::gone ? MPIX_ERR_PROC_FAILED : MPI_ERR_RMA_RANGE,
               "the target's memory cannot be reached: " + std::string(sim::fault_text(fault)));
  }
  return true;
}

// One message if the target's elements are one piece. Otherwise a window request describes the pieces, and the body
// follows as one message into a combined block.
void Rma::put_by_messages(Window& window, const Access& access) {
  WindowTarget& to = window.target(access.target);
  Pieces here;
  const portals::Region body = here.to_send(access.buffer, access.count, *access.type);
  if (access.target_type->dense() && !window.memory.dynamic()) {
    portals::Header header = header_to(to.world_rank, kPutPortal, window_bits(window));
    header.offset = access.offset;
    header.length = body.bytes();
    // If nothing else is under way, an acknowledgment now is cheaper than a flush later.
    if (!window.by_messages && is_alone(window, to)) {
      header.return_portal = kReceivePortal;
      header.return_match_bits = reply_bits_of(expect(window, access.target, {}, nullptr, nullptr));
    } else {
      to.unflushed = true;
    }
    return send(window, to, header, body, access.request, &here);
  }
  to.unflushed = true;
  if (block_by_block(window)) return put_blocks(window, access);
  TargetPieces pieces(*access.target_type, access.target_count);
  while (pieces.left() != 0) {
    const std::uint64_t at = body.bytes() - pieces.left();
    WindowRequestHead head;
    head.kind = WindowRequestKind::put_pieces;
    head.offset = access.offset;
    const std::vector<Piece> part = pieces.take(kPiecesPerRequest, body.bytes(), head.bytes);
    // The target lists its entry for this number before the body arrives, because both travel in order.
    head.reply_bits = pieces_bits(++next_described_);
    send_window_request(window, access.target, head, part);
    portals::Header header = header_to(to.world_rank, kPutPortal, head.reply_bits);
    header.length = head.bytes;
    send(window, to, header, body.slice(at, head.bytes), access.request, &here);
  }
}

void Rma::get_by_messages(Window& window, const Access& access) {
  WindowTarget& to = window.target(access.target);
  Pieces here;
  const portals::Region room = here.to_receive(access.buffer, access.count, *access.type);
  if (access.target_type->dense() && !window.memory.dynamic()) {
    // Listed before the get leaves, so that the reply always finds the entry.
    const Reply& answer = expect(window, access.target, room, access.request, &here);
    portals::Header get = header_to(to.world_rank, kGetPortal, window_bits(window));
    get.kind = portals::Kind::get;
    get.offset = access.offset;
    get.return_portal = kReceivePortal;
    get.return_match_bits = reply_bits_of(answer);
    get.return_length = room.bytes();
    return send(window, to, get, {}, nullptr, nullptr);
  }
  if (block_by_block(window)) return get_blocks(window, access);
  TargetPieces pieces(*access.target_type, access.target_count);
  while (pieces.left() != 0) {
    const std::uint64_t at = room.bytes() - pieces.left();
    WindowRequestHead head;
    head.kind = WindowRequestKind::get_pieces;
    head.offset = access.offset;
    const std::vector<Piece> part = pieces.take(kPiecesPerRequest, room.bytes(), head.bytes);
    // Each window request has its own answer, which fills a slice of the origin's memory.
    head.reply_bits = reply_bits_of(expect(window, access.target, room.slice(at, head.bytes), access.request, &here));
    send_window_request(window, access.target, head, part);
  }
}

// "For one sided communications, each block in the datatype generates a separate message so that the offset can be used
// properly" (paper 001, section 5).
void Rma::put_blocks(Window& window, const Access& access) {
  WindowTarget& to = window.target(access.target);
  Pieces here;
  const portals::Region body = here.to_send(access.buffer, access.count, *access.type);
  TargetPieces pieces(*access.target_type, access.target_count);
  while (pieces.left() != 0) {
    const std::uint64_t at = body.bytes() - pieces.left();
    std::uint64_t bytes = 0;
    const Piece block = pieces.take(1, body.bytes(), bytes).front();
    portals::Header header = header_to(to.world_rank, kPutPortal, window_bits(window));
    header.offset = access.offset + static_cast<std::uint64_t>(block.offset);
    header.length = bytes;
    send(window, to, header, body.slice(at, bytes), access.request, &here);
  }
}

void Rma::get_blocks(Window& window, const Access& access) {
  WindowTarget& to = window.target(access.target);
  Pieces here;
  const portals::Region room = here.to_receive(access.buffer, access.count, *access.type);
  TargetPieces pieces(*access.target_type, access.target_count);
  while (pieces.left() != 0) {
    const std::uint64_t at = room.bytes() - pieces.left();
    std::uint64_t bytes = 0;
    const Piece block = pieces.take(1, room.bytes(), bytes).front();
    portals::Header get = header_to(to.world_rank, kGetPortal, window_bits(window));
    get.kind = portals::Kind::get;
    get.offset = access.offset + static_cast<std::uint64_t>(block.offset);
    get.return_portal = kReceivePortal;
    get.return_match_bits = reply_bits_of(expect(window, access.target, room.slice(at, bytes), access.request, &here));
    get.return_length = bytes;
    send(window, to, get, {}, nullptr, nullptr);
  }
}

}  // namespace margay::mpi_adi
