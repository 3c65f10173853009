// What an origin asks a member's device for, beside puts and gets of one piece: the body of a put to the portal of
// window requests. Behind the head: the pieces of the target's memory that are meant, then operands.
#pragma once

#include <cstdint>
#include <type_traits>

namespace margay::mpi_adi {

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
  announced,   // some of the origin's are complete (`op`: Completed); no bytes to reply_bits
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
// Described bodies of an origin that have not come: no more are expected.
inline constexpr std::uint32_t kDescribedMax = 1024;
// Messages and answers of an origin's accesses that are under way, some 400 bytes each: a program may begin accesses
// without end before it flushes, and waits from here on until half of them are over. Far more than a link holds.
inline constexpr std::uint32_t kAccessMessagesMax = 8192;
inline constexpr std::uint64_t kOperandBytesOfAsk = std::uint64_t{32} << 10;

}  // namespace margay::mpi_adi
