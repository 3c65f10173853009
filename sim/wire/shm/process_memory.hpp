// Reads and writes of another rank's memory: process_vm_readv and process_vm_writev, with proof that the process is the
// expected one; memcpy if the rank is a thread of this process (own_process.hpp).
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "portals/base/region.hpp"
#include "sim/shm/cell_data.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// The most pieces of memory, on each side, in one system call.
inline constexpr std::size_t kReadPieces = 64;
// The most pieces of an offered body. With more pieces, the calls (one for each 64 pieces) would cost more than the
// second copy through the ring.
inline constexpr std::uint64_t kOfferPiecesMax = 4096;

// Writes into `mine` the values that other processes need to read this process's memory, except pid, which the caller
// publishes last. `test_word` must keep its address while the wire lives. `allow`: permits reading on systems where
// Yama restricts it to parents.
void open_for_reading(RankArea& mine, std::uint64_t& test_word, bool allow);

// The result of an access to another process's memory.
enum class ReadFault : std::uint8_t {
  none,
  // The process has ended.
  gone,
  // The operating system does not permit it, or the process is not the one that the area describes.
  refused,
  // This memory cannot be accessed.
  unreadable,
  // The offer contradicts itself.
  malformed,
};
// The meaning of an errno of process_vm_readv or process_vm_writev; none: EINTR, to be retried.
[[nodiscard]] ReadFault fault_of(int error);
// The fault, as the end of a sentence; "" for none.
[[nodiscard]] std::string_view fault_text(ReadFault fault);

// Reads the peer's test word and compares it. none: the peer's memory can be read. Every failure is `refused`, because
// a process that does not exist here may live in another PID namespace.
[[nodiscard]] ReadFault try_reading(const RankArea& peer);

// Whether the process has ended. Requires: its memory could be read before.
[[nodiscard]] bool has_ended(const RankArea& peer);
// Whether the first and the last byte of each piece of the peer's memory can be read. Costs one system call for each
// 512 pieces.
[[nodiscard]] bool can_read_ends(const RankArea& peer, std::span<const portals::Buffer> pieces);

// The time of the last proof of a process's identity. A process number may be trusted for a short time after a proof,
// because the operating system reuses a number only after it has given out all others. There are at least 300, so this
// takes milliseconds.
class ProofTime {
 public:
  // Whether the last proof still holds.
  [[nodiscard]] bool fresh(std::uint64_t now_ns) const { return proven_ns_ != 0 && now_ns - proven_ns_ < kHoldsNs; }
  // Records a proof.
  void record_proof(std::uint64_t now_ns) { proven_ns_ = now_ns; }

 private:
  static constexpr std::uint64_t kHoldsNs = 1'000'000;
  std::uint64_t proven_ns_ = 0;
};

// Both fill `to` from the peer's memory at `address`. read_tested() also reads the test word in the same system call,
// which costs 0.25 us more; its `none` proves the process's identity. Callers use read_tested() when ProofTime is no
// longer fresh, and read_memory() otherwise. After `gone`, `to` may have bytes of another process.
[[nodiscard]] ReadFault read_tested(const RankArea& peer, std::uint64_t address, std::span<std::byte> to);
[[nodiscard]] ReadFault read_memory(const RankArea& peer, std::uint64_t address, std::span<std::byte> to);
// Writes `from` to the peer's memory at `address`. Requires: a fresh proof of the peer's identity.
[[nodiscard]] ReadFault write_memory(const RankArea& peer, std::uint64_t address, std::span<const std::byte> from);

// The reader of one offered body in pieces, step by step.
class BodyReader {
 public:
  // Checks the offer of a body of `length` bytes, and reads nothing of the body. If the body is in one piece, proves
  // the peer's identity.
  [[nodiscard]] ReadFault begin(const RankArea& peer, const ReadOffer& offer, std::uint64_t length);
  // Reads at most `limit` bytes to the position of `landing`, and advances `landing`. May succeed without reading a
  // byte. Requires: begin() returned none; limit != 0.
  [[nodiscard]] ReadFault step(portals::RegionCursor& landing, std::uint64_t limit);
  // The number of bytes that have not been read.
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  [[nodiscard]] ReadFault fetch_table();
  [[nodiscard]] ReadFault read_pieces(std::span<const iovec> to, std::uint64_t most, std::uint64_t& got);
  // Advances in the table by `bytes`, which have been read.
  void pass(std::uint64_t bytes);

  const RankArea* peer_ = nullptr;
  // The address, in the peer's memory, of the part of the table that has not been fetched, and the number of its
  // pieces.
  std::uint64_t next_address_ = 0;
  std::uint64_t next_count_ = 0;
  std::uint64_t left_ = 0;
  // The fetched part of the table: pieces of the peer's memory, which only read_pieces() accesses.
  portals::Buffer table_[kReadPieces] = {};
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  // Intermediate memory for landings in small pieces; allocated at the first small piece.
  std::unique_ptr<std::byte[]> beside_;
};

}  // namespace margay::sim
