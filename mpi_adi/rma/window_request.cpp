#include "mpi_adi/rma/window_request.hpp"

#include <algorithm>
#include <cstring>

#include "mpi_adi/rma/elements.hpp"

namespace margay::mpi_adi {

std::optional<ReceivedWindowRequest> ReceivedWindowRequest::read(std::span<const std::byte> body) {
  if (body.size() < sizeof(WindowRequestHead)) return std::nullopt;
  ReceivedWindowRequest received;
  std::memcpy(&received.head_, body.data(), sizeof received.head_);
  body = body.subspan(sizeof received.head_);
  const std::uint32_t pieces = received.head_.pieces;
  // Checked before anything is copied out of the body.
  if (pieces > kPiecesPerRequest || pieces * sizeof(Piece) > body.size()) return std::nullopt;
  received.whole_.bytes = received.head_.bytes;
  received.many_.resize(pieces);
  // Copied, because the body has no alignment.
  if (pieces != 0) std::memcpy(received.many_.data(), body.data(), pieces * sizeof(Piece));
  received.operands_ = body.subspan(pieces * sizeof(Piece));
  return received;
}

bool ReceivedWindowRequest::find(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                                 std::uint32_t unused_end) const {
  std::uint64_t bytes = 0;
  table.clear();
  for (const Piece& piece : pieces()) {
    if (piece.bytes <= unused_end) return false;
    // The sum of the offsets may wrap round; TargetMemory::at() checks it like any other offset.
    std::byte* const at = memory.at(head_.offset + static_cast<std::uint64_t>(piece.offset), piece.bytes - unused_end);
    if (at == nullptr || __builtin_add_overflow(bytes, piece.bytes, &bytes)) return false;
    table.push_back({at, static_cast<std::size_t>(piece.bytes)});
  }
  // The answer or the body has as many bytes as the head states, so the pieces must add up to them.
  return bytes == head_.bytes;
}

int ReceivedWindowRequest::combine(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                                   std::vector<std::byte>& old, sim::AccumulateLock& lock) const {
  const std::uint32_t element = accumulate_element_bytes(head_.type);
  // A swap is of one element, in one piece.
  const bool good = is_swap() ? swaps(head_.type) && element == head_.bytes && pieces().size() == 1
                              : accumulates(head_.op, head_.type);
  // A swap has two operands, MPI_NO_OP has none.
  const std::uint64_t expected = is_swap() ? 2 * head_.bytes : head_.op == MPI_NO_OP ? 0 : head_.bytes;
  if (element == 0 || !good || operands_.size() != expected || head_.bytes > kOperandBytesPerRequest) return MPI_ERR_OP;
  const bool whole = std::ranges::all_of(pieces(), [&](const Piece& piece) { return piece.bytes % element == 0; });
  // Padding behind the last element may lie outside of the window.
  const std::uint32_t padding = element - accumulate_data_bytes(head_.type);
  if (!whole || !find(memory, table, padding)) return MPI_ERR_RMA_RANGE;
  // Allocates nothing once the buffer has had this size.
  old.resize(head_.reply_bits != 0 && head_.bare_answer == 0 ? head_.bytes : 0);
  std::uint64_t done = 0;
  for (const portals::Buffer& piece : table) {
    std::byte* const before = old.empty() ? nullptr : old.data() + done;
    const std::byte* const operand = operands_.empty() ? nullptr : operands_.data() + done;
    if (is_swap()) {
      swap_element(piece.base, operand, operands_.data() + head_.bytes, before, element, lock);
    } else {
      accumulate_elements(piece.base, operand, before, piece.bytes / element, head_.op, head_.type, lock);
    }
    done += piece.bytes;
  }
  return MPI_SUCCESS;
}

std::optional<AnnouncedAccess> ReceivedWindowRequest::announced() const {
  if (operands_.size() != sizeof(AnnouncedAccess)) return std::nullopt;
  // The bytes become enumerators and bools below, which have no other values.
  const auto most = [this](std::size_t at, auto value) { return operands_[at] <= static_cast<std::byte>(value); };
  const bool good = most(offsetof(AnnouncedAccess, kind), AccessKind::accumulate) &&
                    most(offsetof(AnnouncedAccess, epoch), EpochKind::passive) &&
                    most(offsetof(AnnouncedAccess, mixed_ops), MixedOps::any) &&
                    most(offsetof(AnnouncedAccess, ordered), true) && most(offsetof(AnnouncedAccess, ends_alone), true);
  if (!good) return std::nullopt;
  AnnouncedAccess access;
  std::memcpy(&access, operands_.data(), sizeof access);
  // The name ends within its array, even if the origin sent a name without an end.
  access.call[sizeof access.call - 1] = '\0';
  // The head's origin was compared with the sender's rank; the one in the body was not.
  access.origin = head_.origin;
  return access;
}

std::vector<ByteRange> ReceivedWindowRequest::ranges() const {
  std::vector<ByteRange> ranges;
  for (const Piece& piece : pieces()) {
    ByteRange range{head_.offset + static_cast<std::uint64_t>(piece.offset), 0};
    // A range that wraps round names no memory, and is left out.
    if (!__builtin_add_overflow(range.begin, piece.bytes, &range.end)) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace margay::mpi_adi
