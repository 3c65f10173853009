// Requests of origins to a window's target, and its answers: their bytes, the reader that checks every number against
// the window's memory before anything uses it, and the cursor by which an origin describes memory.
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

// Everything but puts and gets of one piece, in the body of a put to the portal of window requests. Behind the head:
// the pieces of the target's memory, then operands.
enum class Ask : std::uint8_t {
  lock_shared,
  lock_exclusive,
  unlock,      // or a request for the lock that is given up
  granted,     // to an origin: the lock is its own
  posted,      // to an origin: an exposure epoch began
  completed,   // to a target: an access epoch ended
  refused,     // to an origin: what it asked for is outside of the window; error_class says why
  put_pieces,  // the next message to the put portal, with reply_bits, goes to these pieces
  get_pieces,  // a body out of these pieces, to reply_bits
  accumulate,  // operands; a body of what was there before to reply_bits, if there are any
  swap,        // MPI_Compare_and_swap: operand and what is compared
  announce,    // --check-rma: an access to these pieces is to come; what conflicts with it to reply_bits
  announced,   // some of the origin's accesses are complete (`op`: Completed); no bytes to reply_bits
};

struct AskHead {
  Ask what{};
  std::uint8_t bare_answer = 0;  // 1: of an accumulate that tells that it is done, without what was there before
  std::uint8_t reserved[2]{};
  std::int32_t origin = 0;  // rank in the window
  std::int32_t op = 0;      // handles of the ABI, of what is predefined
  std::int32_t type = 0;
  std::uint64_t offset = 0;      // bytes from the window's beginning; of a dynamic one an address
  std::uint64_t bytes = 0;       // of the pieces together
  std::uint64_t reply_bits = 0;  // 0: no answer
  std::uint32_t pieces = 0;      // behind the head; 0: one, of `bytes`
  std::int32_t error_class = 0;
};
static_assert(std::is_trivially_copyable_v<AskHead> && sizeof(AskHead) == 48);

// A piece of the target's memory, `offset` bytes from the head's offset.
struct Piece {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Piece> && sizeof(Piece) == 16);

// What one ask describes or brings at most; longer accesses are several.
inline constexpr std::uint32_t kPiecesOfAsk = 256;
// At most so many described bodies are expected of one origin.
inline constexpr std::uint32_t kDescribedMax = 1024;
// Messages and answers of an origin's accesses that are under way, some 400 bytes each: a program may begin accesses
// without end before it flushes, and waits from here on until half of them are over. Far more than a link holds.
inline constexpr std::uint32_t kAccessMessagesMax = 8192;
inline constexpr std::uint64_t kOperandBytesOfAsk = std::uint64_t{32} << 10;

class Asked {
 public:
  // nullopt: the body is shorter than its head says, or has more pieces than an ask may. The body outlives the result.
  [[nodiscard]] static std::optional<Asked> read(std::span<const std::byte> body);

  [[nodiscard]] const AskHead& head() const { return head_; }
  // Of the target's memory, as the origin names them.
  [[nodiscard]] std::span<const Piece> pieces() const {
    return head_.pieces == 0 ? std::span(&whole_, head_.bytes != 0 ? 1 : 0) : std::span<const Piece>(many_);
  }

  // Fills `table` with the memory that the pieces name. False: some of it is outside, or the numbers do not fit each
  // other.
  // `unused_end`: bytes at each piece's end that nobody touches.
  [[nodiscard]] bool find(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                          std::uint32_t unused_end = 0) const;
  // Carries out an accumulate or a compare-and-swap; `old` becomes what was there before, where the origin wants it.
  // MPI_SUCCESS, or why nothing happened: MPI_ERR_OP, MPI_ERR_RMA_RANGE.
  [[nodiscard]] int combine(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                            std::vector<std::byte>& old, sim::AccumulateLock& lock) const;
  // Of --check-rma: the access that is announced, and the bytes that it means. nullopt: none is
  // described, or a number is out of range.
  [[nodiscard]] std::optional<AnnouncedAccess> announced() const;
  [[nodiscard]] std::vector<ByteRange> ranges() const;

 private:
  [[nodiscard]] bool is_swap() const { return head_.what == Ask::swap; }

  AskHead head_;
  Piece whole_;
  std::vector<Piece> many_;
  std::span<const std::byte> operands_;  // behind the pieces
};

// A cursor over `count` elements of a datatype as pieces, for requests.
class TargetPieces {
 public:
  // The type outlives it. Requires: count >= 0.
  TargetPieces(const Datatype& type, std::int64_t count) : cursor_(pieces_.to_send(nullptr, count, type)) {}
  // In `bytes` that follow each other.
  explicit TargetPieces(std::uint64_t bytes) : cursor_(portals::Region(nullptr, bytes)) {}

  [[nodiscard]] std::uint64_t left() const { return cursor_.left(); }
  // The next ones: at most `count` pieces and `limit` bytes. `bytes`: of all of them. Requires: left() != 0, limit !=
  // 0.
  [[nodiscard]] std::vector<Piece> take(std::uint32_t count, std::uint64_t limit, std::uint64_t& bytes) {
    std::vector<Piece> taken;
    bytes = 0;
    while (cursor_.left() != 0 && bytes < limit && taken.size() < count) {
      const portals::Buffer piece = cursor_.peek(limit - bytes);
      // From an address of 0: where it lies is how far from the first element.
      taken.push_back({static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(piece.base)), piece.bytes});
      bytes += piece.bytes;
      cursor_.skip(piece.bytes);
    }
    return taken;
  }
  // Requires: bytes <= left().
  void skip(std::uint64_t bytes) { cursor_.skip(bytes); }

 private:
  Pieces pieces_;
  portals::RegionCursor cursor_;
};

}  // namespace margay::mpi_adi
