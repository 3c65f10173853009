// Window requests: requests of origins to a window's target, and the target's answers: their bytes, and the reader that
// checks every number against the window's memory before anything uses it. Also a cursor, with which an origin
// describes the target's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/target_memory.hpp"
#include "sim/shm/accumulate_lock.hpp"

namespace margay::mpi_adi {

// The kinds of window requests. A window request is the body of a put to the portal of window requests: the head, then
// the pieces of the target's memory, then operands. All accesses by messages need one, except puts and gets that go
// straight to the put portal and the get portal. These have one piece or are sent block by block, and their window is
// not dynamic.
enum class WindowRequestKind : std::uint8_t {
  lock_shared,
  lock_exclusive,
  unlock,      // also withdraws a request for the lock
  granted,     // to an origin: the lock is granted
  posted,      // to an origin: an exposure epoch began
  completed,   // to a target: an access epoch ended
  refused,     // to an origin: its request is invalid; error_class has the reason
  put_pieces,  // describes the pieces for the body of the origin's next put, whose match bits are reply_bits
  get_pieces,  // sends a body out of these pieces to reply_bits
  accumulate,  // operands; sends the old elements to reply_bits, if there are any
  swap,        // MPI_Compare_and_swap: the operand, then the value to compare
  announce,    // --check-rma: an access to these pieces will follow; sends the conflicting access to reply_bits
  // --check-rma: some of the origin's accesses are complete (`op`: Completed); sends no bytes to reply_bits
  announced,
};

// The fixed part of a window request, in the byte order of the machine.
struct WindowRequestHead {
  WindowRequestKind kind{};
  std::uint8_t bare_answer = 0;  // 1: an accumulate's answer has no bytes; it only reports that the accumulate is done
  // Explicit, so that the head has no padding, and a body no undefined bytes.
  std::uint8_t reserved[2]{};
  std::int32_t origin = 0;  // rank in the window
  std::int32_t op = 0;      // handles of the ABI; predefined objects only
  std::int32_t type = 0;
  std::uint64_t offset = 0;      // bytes from the window's start; for a dynamic window an address
  std::uint64_t bytes = 0;       // of all pieces together
  std::uint64_t reply_bits = 0;  // 0: no answer
  std::uint32_t pieces = 0;      // number of pieces behind the head; 0: one piece, of `bytes`
  // Of `refused` only: the reason, a class of MPI.
  std::int32_t error_class = 0;
};
static_assert(std::is_trivially_copyable_v<WindowRequestHead> && sizeof(WindowRequestHead) == 48);

// A piece of the target's memory, `offset` bytes from the head's offset.
struct Piece {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Piece> && sizeof(Piece) == 16);

// The most pieces in one window request. A longer access is divided into several.
inline constexpr std::uint32_t kPiecesPerRequest = 256;
// The most described bodies (put_pieces) that a target expects from one origin. It ignores further descriptions.
inline constexpr std::uint32_t kDescribedMax = 1024;
// The most messages and answers that are under way for an origin's accesses; each takes some 400 bytes here. A program
// may begin any number of accesses before it flushes. At this bound it waits until half of them are complete. The bound
// is far more than a link holds.
inline constexpr std::uint32_t kAccessMessagesMax = 8192;
// The most bytes of operands in one window request.
inline constexpr std::uint64_t kOperandBytesPerRequest = std::uint64_t{32} << 10;

// A window request as its target reads it. Head and pieces are copied; the operands stay in the body.
class ReceivedWindowRequest {
 public:
  // nullopt: the body is shorter than its head says, or has more pieces than a request may. The body must outlive the
  // result.
  [[nodiscard]] static std::optional<ReceivedWindowRequest> read(std::span<const std::byte> body);

  [[nodiscard]] const WindowRequestHead& head() const { return head_; }
  // The pieces of the target's memory as the origin names them, unchecked.
  [[nodiscard]] std::span<const Piece> pieces() const {
    return head_.pieces == 0 ? std::span(&whole_, head_.bytes != 0 ? 1 : 0) : std::span<const Piece>(many_);
  }

  // Fills `table` with the memory that the pieces name. False: some of it is outside of the window, or the pieces do
  // not add up to the head's bytes. `unused_end`: bytes at each piece's end that are not accessed.
  [[nodiscard]] bool find(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                          std::uint32_t unused_end = 0) const;
  // Performs an accumulate or a compare-and-swap; `old` gets the previous elements if the origin asked for them.
  // Returns MPI_SUCCESS, or the reason why nothing happened: MPI_ERR_OP, MPI_ERR_RMA_RANGE.
  [[nodiscard]] int combine(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                            std::vector<std::byte>& old, sim::AccumulateLock& lock) const;
  // For --check-rma: the announced access, and its ranges of bytes. nullopt: the body describes none, or a number is
  // out of range.
  [[nodiscard]] std::optional<AnnouncedAccess> announced() const;
  [[nodiscard]] std::vector<ByteRange> ranges() const;

 private:
  // Whether it is a compare-and-swap; otherwise it is an accumulate.
  [[nodiscard]] bool is_swap() const { return head_.kind == WindowRequestKind::swap; }

  // Copies of the body's head and pieces, because the body has no alignment.
  WindowRequestHead head_;
  // The only piece of a window request that lists no pieces.
  Piece whole_;
  std::vector<Piece> many_;
  std::span<const std::byte> operands_;  // behind the pieces
};

// A cursor over `count` elements of a datatype, as pieces of the target's memory for window requests.
class TargetPieces {
 public:
  // The type must outlive the cursor. Requires: count >= 0.
  TargetPieces(const Datatype& type, std::int64_t count) : cursor_(pieces_.to_send(nullptr, count, type)) {}
  // The same for one run of `bytes`.
  explicit TargetPieces(std::uint64_t bytes) : cursor_(portals::Region(nullptr, bytes)) {}

  // The number of bytes that are not taken yet.
  [[nodiscard]] std::uint64_t left() const { return cursor_.left(); }
  // Takes the next pieces: at most `count` pieces and `limit` bytes. Sets `bytes` to the sum of the taken pieces.
  // Requires: left() != 0, limit != 0.
  [[nodiscard]] std::vector<Piece> take(std::uint32_t count, std::uint64_t limit, std::uint64_t& bytes) {
    std::vector<Piece> taken;
    bytes = 0;
    while (cursor_.left() != 0 && bytes < limit && taken.size() < count) {
      const portals::Buffer piece = cursor_.peek(limit - bytes);
      // The region starts at address 0, so a piece's address is its distance from the first element.
      taken.push_back({static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(piece.base)), piece.bytes});
      bytes += piece.bytes;
      cursor_.skip(piece.bytes);
    }
    return taken;
  }
  // Requires: bytes <= left().
  void skip(std::uint64_t bytes) { cursor_.skip(bytes); }

 private:
  // Keeps the datatype's layout alive while the cursor refers to it.
  Pieces pieces_;
  portals::RegionCursor cursor_;
};

}  // namespace margay::mpi_adi
