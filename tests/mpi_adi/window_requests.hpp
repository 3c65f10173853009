// Hand-made one-sided requests, and the memory of a window that they access. For a unit test and a fuzz target, so
// without a test's macros.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/rma/window_request.hpp"

namespace margay::mpi_adi::test {

inline std::vector<std::byte> request_body(WindowRequestHead head, std::span<const Piece> pieces = {},
                                           std::span<const std::byte> operands = {}) {
  head.pieces = static_cast<std::uint32_t>(pieces.size());
  std::vector<std::byte> body(sizeof head + pieces.size_bytes() + operands.size());
  std::memcpy(body.data(), &head, sizeof head);
  if (!pieces.empty()) std::memcpy(body.data() + sizeof head, pieces.data(), pieces.size_bytes());
  if (!operands.empty()) std::memcpy(body.data() + sizeof head + pieces.size_bytes(), operands.data(), operands.size());
  return body;
}

inline constexpr std::size_t kMemoryBytes = 4096;
inline constexpr MPI_Datatype kBasic = 0x4c000000;  // a basic datatype's handle without size and index

// One of `numbers`, drawn at random.
template <typename... Numbers>
std::int64_t one_of(std::mt19937_64& random, Numbers... numbers) {
  const std::array<std::int64_t, sizeof...(numbers)> all{static_cast<std::int64_t>(numbers)...};
  return all[random() % all.size()];
}

// A request for an accumulate with consistent numbers, perhaps of a datatype that does not exist.
inline std::vector<std::byte> random_accumulate(std::mt19937_64& random, std::uint64_t origin) {
  WindowRequestHead head;
  head.kind = random() % 4 == 0 ? WindowRequestKind::swap : WindowRequestKind::accumulate;
  head.op = static_cast<int>(one_of(random, MPI_SUM, MPI_REPLACE, MPI_REPLACE, MPI_NO_OP, MPI_MAXLOC));
  head.type = static_cast<int>(
      one_of(random, MPI_INT, MPI_LONG, MPI_LONG_DOUBLE, MPI_2INT, kBasic | static_cast<int>(random() & 0xffff)));
  const std::uint64_t element = std::max<std::uint64_t>(basic_size_bytes(head.type), 1);
  head.bytes = element * (head.kind == WindowRequestKind::swap ? 1 : 1 + random() % 3);
  head.offset = origin + static_cast<std::uint64_t>(one_of(random, 0, 8, 2048, kMemoryBytes - head.bytes));
  head.reply_bits = random() % 2;
  const bool none = head.kind == WindowRequestKind::accumulate && head.op == MPI_NO_OP;
  const std::vector<std::byte> operands(none                                   ? 0
                                        : head.kind == WindowRequestKind::swap ? 2 * head.bytes
                                                                               : head.bytes,
                                        std::byte{7});
  return request_body(head, {}, operands);
}

// A request like those of an origin, with some invalid numbers.
inline std::vector<std::byte> random_request(std::mt19937_64& random, std::uint64_t origin) {
  if (random() % 2 == 0) return random_accumulate(random, origin);
  WindowRequestHead head;
  head.kind = static_cast<WindowRequestKind>(one_of(random, WindowRequestKind::accumulate, WindowRequestKind::swap,
                                                    WindowRequestKind::put_pieces, WindowRequestKind::get_pieces,
                                                    WindowRequestKind::announce, random() % 16));
  head.bare_answer = static_cast<std::uint8_t>(random() % 3);
  head.op = static_cast<int>(one_of(random, MPI_SUM, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL, random()));
  head.type = static_cast<int>(one_of(random, MPI_INT, MPI_DOUBLE_INT, MPI_BYTE, MPI_DATATYPE_NULL, random()));
  head.bytes = static_cast<std::uint64_t>(one_of(random, 0, 4, 16, 32, 255, 4096, 32768, -1, random()));
  head.offset = origin + static_cast<std::uint64_t>(one_of(random, 0, 1000, 1024, 2040, 4080, 4096, -8, random()));
  head.reply_bits = random() % 2;
  std::vector<Piece> pieces(random() % 4 == 0 ? random() % 5 : 0);
  for (Piece& piece : pieces) piece = {one_of(random, 0, 16, 3000, -16, random()), head.bytes / pieces.size()};
  std::vector<std::byte> operands(random() % 3 == 0 ? random() % 100 : head.bytes <= 32768 ? head.bytes : 0);
  if (head.kind == WindowRequestKind::announce) operands.resize(sizeof(AnnouncedAccess));
  for (std::byte& byte : operands) byte = static_cast<std::byte>(random());
  std::vector<std::byte> body = request_body(head, pieces, operands);
  if (random() % 8 == 0) body.resize(random() % (body.size() + 1));
  if (random() % 8 == 0 && body.size() >= sizeof head) {
    const auto many = static_cast<std::uint32_t>(random());
    std::memcpy(body.data() + offsetof(WindowRequestHead, pieces), &many, sizeof many);
  }
  return body;
}

// A window's memory between guard bytes, which no access may change: one piece, or attached pieces, some of which
// adjoin each other.
class GuardedMemory {
 public:
  static constexpr std::size_t kBytes = kMemoryBytes;
  static constexpr std::size_t kGuard = 512;

  explicit GuardedMemory(bool dynamic) : all_(kGuard + kBytes + kGuard, kUntouched) {
    if (!dynamic) {
      exposed_.expose(begin(), kBytes);
      return;
    }
    exposed_.make_dynamic();
    // The second of four quarters is not attached.
    for (const std::size_t quarter : {0U, 3U, 2U}) {
      static_cast<void>(exposed_.attach(begin() + quarter * (kBytes / 4), kBytes / 4));
    }
  }

  [[nodiscard]] const TargetMemory& exposed() const { return exposed_; }
  [[nodiscard]] std::byte* begin() { return all_.data() + kGuard; }
  // The offset of a request to the beginning of the memory.
  [[nodiscard]] std::uint64_t origin() { return exposed_.dynamic() ? reinterpret_cast<std::uintptr_t>(begin()) : 0; }
  // Whether the bytes outside the window are unchanged.
  [[nodiscard]] bool is_intact() const {
    for (std::size_t at = 0; at < all_.size(); ++at) {
      const bool inside = at >= kGuard && at < kGuard + kBytes;
      const bool missing = exposed_.dynamic() && (at - kGuard) / (kBytes / 4) == 1;
      if ((!inside || missing) && all_[at] != kUntouched) return false;
    }
    return true;
  }

  // Handles a request as the target does. Returns false if it found memory that is not the window's.
  [[nodiscard]] bool meets(std::span<const std::byte> body, ConflictTable& announced) {
    const std::optional<ReceivedWindowRequest> received = ReceivedWindowRequest::read(body);
    if (!received) return true;
    std::vector<portals::Buffer> table;
    std::vector<std::byte> old;
    if (received->find(exposed_, table) && !are_inside(table, received->head().bytes)) return false;
    if (received->head().kind == WindowRequestKind::announce) {
      if (const auto access = received->announced()) static_cast<void>(announced.add(*access, received->ranges()));
    } else {
      sim::AccumulateLock lock(lock_, 0, sim::HolderDeathTest([](void*, std::uint32_t) { return false; }, nullptr));
      static_cast<void>(received->combine(exposed_, table, old, lock));
    }
    return old.size() <= kOperandBytesPerRequest && is_intact();
  }

 private:
  static constexpr std::byte kUntouched{0x5a};

  [[nodiscard]] bool are_inside(std::span<const portals::Buffer> table, std::uint64_t bytes) {
    for (const portals::Buffer& piece : table) {
      if (piece.base < begin() || piece.base + piece.bytes > begin() + kBytes || piece.bytes > bytes) return false;
      bytes -= piece.bytes;
    }
    return bytes == 0;
  }

  std::vector<std::byte> all_;
  TargetMemory exposed_;
  sim::AccumulateLockData lock_;
};

}  // namespace margay::mpi_adi::test
