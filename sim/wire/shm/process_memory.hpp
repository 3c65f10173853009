// Reading another process's memory (process_vm_readv), with the proof that it is the process that one thinks.
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

// Pieces of a body that one call of the operating system takes, on each side.
inline constexpr std::size_t kReadPieces = 64;
// A body in more pieces than this goes through the byte ring: one call for each 64 would cost more than a second copy.
inline constexpr std::uint64_t kOfferPiecesMax = 4096;

// Writes into `mine` what others need to read this process's memory (all but pid, which is published last). `test_word`
// stays where it is while the wire lives. `allow`: permit it where Yama restricts it to parents.
void open_for_reading(RankArea& mine, std::uint64_t& test_word, bool allow);

enum class ReadFault : std::uint8_t {
  none,
  gone,        // the process has ended
  refused,     // the operating system does not allow it, or it is another process than the area says
  unreadable,  // this memory cannot be read
  malformed,   // the offer contradicts itself
};
// What an error of process_vm_readv or process_vm_writev means; none: EINTR, to be tried again.
[[nodiscard]] ReadFault fault_of(int error);
// A sentence's end. none: "".
[[nodiscard]] std::string_view words(ReadFault fault);

// Reads the peer's test word and compares. none: its memory can be read; else refused: that there is no such process
// may also mean that it is in another PID namespace.
[[nodiscard]] ReadFault try_reading(const RankArea& peer);

// Whether the process is no more, of one that could be read before.
[[nodiscard]] bool has_ended(const RankArea& peer);
// Whether the first and the last byte of each piece of the peer's memory can be read: one call for each 512 pieces.
[[nodiscard]] bool can_read_ends(const RankArea& peer, std::span<const portals::Buffer> pieces);

// When a process was last proven to be the one that one thinks. A proof holds for a while: another process gets its
// number only after all other numbers were given out, and starting 300 processes, the fewest there can be, takes
// milliseconds.
class ProofTime {
 public:
  [[nodiscard]] bool fresh(std::uint64_t now_ns) const { return proven_ns_ != 0 && now_ns - proven_ns_ < kHoldsNs; }
  void proven(std::uint64_t now_ns) { proven_ns_ = now_ns; }

 private:
  static constexpr std::uint64_t kHoldsNs = 1'000'000;
  std::uint64_t proven_ns_ = 0;
};

// Fills `to` from the peer's memory at `address`. Tested: the test word comes with it (0.25 us), so that `none` means
// it is the right process; so once in a while.
[[nodiscard]] ReadFault read_tested(const RankArea& peer, std::uint64_t address, std::span<std::byte> to);
[[nodiscard]] ReadFault read_memory(const RankArea& peer, std::uint64_t address, std::span<std::byte> to);
// Writes `from` to the peer's memory at `address`. Requires: the peer was tested, lately.
[[nodiscard]] ReadFault write_memory(const RankArea& peer, std::uint64_t address, std::span<const std::byte> from);

// One offered body in pieces on its way, step by step.
class BodyReader {
 public:
  // Checks the offer of a body of `length` bytes. Reads nothing of the body yet.
  [[nodiscard]] ReadFault begin(const RankArea& peer, const ReadOffer& offer, std::uint64_t length);
  // Reads at most `limit` bytes to where `landing` stands and moves it on. Requires: begin() said none; limit != 0.
  [[nodiscard]] ReadFault step(portals::RegionCursor& landing, std::uint64_t limit);
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  [[nodiscard]] ReadFault fetch_table();
  [[nodiscard]] ReadFault read_pieces(std::span<const iovec> to, std::uint64_t most, std::uint64_t& got);
  void pass(std::uint64_t bytes);

  const RankArea* peer_ = nullptr;
  std::uint64_t next_address_ = 0;  // of the table's part that was not fetched yet
  std::uint64_t next_count_ = 0;
  std::uint64_t left_ = 0;
  portals::Buffer table_[kReadPieces] = {};  // addresses of the peer's memory: never used but in process_vm_readv
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::unique_ptr<std::byte[]> beside_;  // for landings in small pieces, once there is one
};

}  // namespace margay::sim
