// The target's side: what origins ask this process's device for. Everything that a message says is checked here again:
// never is anything read or written outside of the window.
#include <algorithm>
#include <cstring>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/elements.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi_adi {

// Those of one origin in their order; one whose body is still coming holds up no other origin's: what these sent behind
// theirs, a flush or a described body, is not held up either. A body that is not wanted comes to the same heap, without
// itself.
void Rma::told() {
  std::vector<std::uint32_t> behind;
  for (portals::ArrivedMessage* message = asks_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = asks_.next(*message);
    const portals::Header header = message->header;
    if (!message->complete) {
      behind.push_back(header.source.rank);
    } else if (std::ranges::find(behind, header.source.rank) == behind.end()) {
      if (header.portal == kWindowPortal) {
        hear(header, message->body.base, header.length);
      } else {
        forget_described(header);
      }
      asks_.release(*message);
    }
    message = next;
  }
}

void Rma::hear(const portals::Header& header, const std::byte* body, std::uint64_t bytes) {
  const auto found = windows_.find(context_of_window_bits(header.match_bits));
  if (found == windows_.end() || bytes < sizeof(AskHead)) return;
  Window& window = *found->second;
  AskHead head;
  std::memcpy(&head, body, sizeof head);
  const std::uint64_t pieces_bytes = std::uint64_t{head.pieces} * sizeof(Piece);
  if (head.origin < 0 || head.origin >= window.members() || head.pieces > kPiecesOfAsk ||
      window.target(head.origin).world_rank != header.source.rank || pieces_bytes > bytes - sizeof head) {
    return;
  }
  WindowTarget& origin = window.target(head.origin);
  const Piece whole{0, head.bytes};
  std::vector<Piece> many(head.pieces);
  if (head.pieces != 0) std::memcpy(many.data(), body + sizeof head, pieces_bytes);
  const std::span<const Piece> pieces =
      head.pieces == 0 ? std::span(&whole, head.bytes != 0 ? 1 : 0) : std::span<const Piece>(many);
  switch (head.what) {
    case Ask::lock_shared:
    case Ask::lock_exclusive:
      return lock_asked(window, head);
    case Ask::unlock:
      std::erase(window.waiting, head.origin);
      return release(window, window.rank(), window.control, head.origin);
    case Ask::granted:
      if (!origin.lock_asked || origin.locked || origin.control.here()) return;
      origin.locked = true;
      return parts_.kernel.answered(origin.world_rank);
    case Ask::posted:
      return window.control.posts().publish(static_cast<std::uint32_t>(head.origin));
    case Ask::completed:
      return window.control.completions().publish(static_cast<std::uint32_t>(head.origin));
    case Ask::refused:
      return refused(window, head);
    case Ask::put_pieces:
      return take_pieces(window, head, pieces, header);
    case Ask::get_pieces:
      return send_pieces(window, head, pieces);
    case Ask::announce:
      return hear_announced(window, head, pieces, body + sizeof head + pieces_bytes,
                            bytes - sizeof head - pieces_bytes);
    case Ask::announced:
      return hear_completed(window, head);
    case Ask::accumulate:
    case Ask::swap:
      return combine(window, head, pieces, body + sizeof head + pieces_bytes, bytes - sizeof head - pieces_bytes);
  }
}

// By messages, of a member that does not reach the lock itself.
void Rma::lock_asked(Window& window, const AskHead& head) {
  // It was withdrawn already, and would never give the lock back.
  if (parts_.kernel.gone(window.target(head.origin).world_rank)) return;
  const auto member = static_cast<std::uint32_t>(head.origin);
  sim::WindowLock lock = lock_of(window.control);
  if (lock.granted(member) || std::ranges::find(window.waiting, head.origin) != window.waiting.end()) return;
  const auto kind = head.what == Ask::lock_exclusive ? sim::WindowLockKind::exclusive : sim::WindowLockKind::shared;
  if (lock.request(member, kind)) return tell(window, head.origin, Ask::granted);
  window.waiting.push_back(head.origin);
  look_each_round();
}

// The memory that is meant; false: some of it is none of the window's, or the numbers do not fit each other.
// `unused_end`: bytes at each piece's end that nobody touches.
bool Rma::find_memory(const Window& window, const AskHead& head, std::span<const Piece> pieces,
                      std::vector<portals::Buffer>& table, std::uint32_t unused_end) {
  std::uint64_t bytes = 0;
  table.clear();
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0) return false;
    std::byte* const at =
        window.memory.at(head.offset + static_cast<std::uint64_t>(piece.offset), piece.bytes - unused_end);
    if (at == nullptr || __builtin_add_overflow(bytes, piece.bytes, &bytes)) return false;
    table.push_back({at, static_cast<std::size_t>(piece.bytes)});
  }
  return bytes == head.bytes;
}

void Rma::refuse(Window& window, const AskHead& head, int error_class) {
  AskHead answer;
  answer.what = Ask::refused;
  answer.reply_bits = head.what == Ask::put_pieces ? 0 : head.reply_bits;
  answer.error_class = error_class;
  answer.offset = head.offset;
  answer.bytes = head.bytes;
  send_ask(window, head.origin, answer);
}

void Rma::refused(Window& window, const AskHead& head) {
  Reply* asked = nullptr;
  replies_.for_each_in_use([&](Reply& answer) {
    if (!answer.at_target && answer.window == &window && answer.target == head.origin && head.reply_bits != 0 &&
        reply_bits_of(answer) == head.reply_bits && answer.memory->under_way() == 0) {
      asked = &answer;
    }
  });
  note(window, head.error_class == MPI_ERR_OP ? MPI_ERR_OP : MPI_ERR_RMA_RANGE,
       "rank " + std::to_string(head.origin) + " refused an access to " + std::to_string(head.bytes) +
           " bytes: they are not all in its window's memory");
  if (asked != nullptr) give_up(*asked, MPI_ERR_RMA_RANGE);
}

// The body is the next message of this origin to the put portal.
void Rma::take_pieces(Window& window, const AskHead& head, std::span<const Piece> pieces,
                      const portals::Header& header) {
  // An honest origin's bodies follow their descriptions at once.
  WindowTarget& origin = window.target(head.origin);
  if (origin.described == kDescribedMax) return;
  ++origin.described;
  Reply& described = replies_.take();
  described.rma = this;
  described.window = &window;
  described.target = head.origin;
  described.request = nullptr;
  described.at_target = true;
  const portals::Criteria criteria{.match_bits = head.reply_bits, .source_rank = header.source.rank};
  if (find_memory(window, head, pieces, described.table)) {
    described.memory.emplace(std::span<const portals::Buffer>(described.table));
    described.memory->set_owner(static_cast<Listener*>(&described), kOwnerListener);
    described.entry.set(criteria, *described.memory, {});
  } else {
    described.memory.reset();
    described.entry.set(criteria, asks_, {.save = portals::Save::header});
    refuse(window, head, MPI_ERR_RMA_RANGE);
  }
  put_list_.append(described.entry);
}

void Rma::forget_described(const portals::Header& header) {
  replies_.for_each_in_use([&](Reply& answer) {
    const portals::Criteria& criteria = answer.entry.criteria();
    if (answer.at_target && !answer.memory && criteria.match_bits == header.match_bits &&
        criteria.source_rank == header.source.rank) {
      came(answer);
    }
  });
}

void Rma::send_pieces(Window& window, const AskHead& head, std::span<const Piece> pieces) {
  Outgoing& outgoing = outgoing_.take();
  if (!find_memory(window, head, pieces, outgoing.table)) {
    outgoing_.give_back(outgoing);
    return refuse(window, head, MPI_ERR_RMA_RANGE);
  }
  portals::Header header = header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits);
  header.length = head.bytes;
  send_outgoing(
      outgoing, nullptr, head.origin, header,
      outgoing.table.empty() ? portals::Region() : portals::Region(std::span<const portals::Buffer>(outgoing.table)));
}

void Rma::combine(Window& window, const AskHead& head, std::span<const Piece> pieces, const std::byte* operands,
                  std::uint64_t operand_bytes) {
  const std::uint32_t element = accumulate_element_bytes(head.type);
  const bool swap = head.what == Ask::swap;
  // A swap is of one element, in one piece.
  const bool good =
      swap ? swaps(head.type) && element == head.bytes && pieces.size() == 1 : accumulates(head.op, head.type);
  const std::uint64_t expected = swap ? 2 * head.bytes : head.op == MPI_NO_OP ? 0 : head.bytes;
  if (element == 0 || !good || operand_bytes != expected || head.bytes > kOperandBytesOfAsk) {
    return refuse(window, head, MPI_ERR_OP);
  }
  const bool whole = std::ranges::all_of(pieces, [&](const Piece& piece) { return piece.bytes % element == 0; });
  const std::uint32_t padding = element - accumulate_data_bytes(head.type);
  if (!whole || !find_memory(window, head, pieces, meant_, padding)) return refuse(window, head, MPI_ERR_RMA_RANGE);
  std::vector<std::byte>& old = answer_body_;
  old.resize(head.reply_bits != 0 && head.bare_answer == 0 ? head.bytes : 0);
  sim::AccumulateLock lock = accumulate_lock(window.target(window.rank()));
  std::uint64_t done = 0;
  for (const portals::Buffer& piece : meant_) {
    std::byte* const before = old.empty() ? nullptr : old.data() + done;
    const std::byte* const operand = operand_bytes == 0 ? nullptr : operands + done;
    if (swap) {
      swap_element(piece.base, operand, operands + head.bytes, before, element, lock);
    } else {
      accumulate_elements(piece.base, operand, before, piece.bytes / element, head.op, head.type, lock);
    }
    done += piece.bytes;
  }
  if (head.reply_bits == 0) return;
  send_copied(nullptr, head.origin, header_to(window.target(head.origin).world_rank, kReceivePortal, head.reply_bits),
              old);
}

}  // namespace margay::mpi_adi
