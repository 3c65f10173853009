// Validates every number of a request from a peer against the window's memory, before anything uses it. Pure:
// knows a window's memory, and no window.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mpi_adi/rma/ask.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/target_memory.hpp"
#include "sim/shm/accumulate_lock.hpp"

namespace margay::mpi_adi {

class Asked {
 public:
  // nullopt: the body is shorter than its head says, or has more pieces than an ask may. The body outlives the result.
  [[nodiscard]] static std::optional<Asked> read(std::span<const std::byte> body);

  [[nodiscard]] const AskHead& head() const { return head_; }
  // Of the target's memory, as the origin names them.
  [[nodiscard]] std::span<const Piece> pieces() const {
    return head_.pieces == 0 ? std::span(&whole_, head_.bytes != 0 ? 1 : 0) : std::span<const Piece>(many_);
  }

  // The memory that is meant, in `table`. False: some of it is outside, or the numbers do not fit each other.
  // `unused_end`: bytes at each piece's end that nobody touches.
  [[nodiscard]] bool find(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                          std::uint32_t unused_end = 0) const;
  // Carries out an accumulate or a compare-and-swap; `old` becomes what was there before, where the origin wants it.
  // MPI_SUCCESS, or why nothing happened: MPI_ERR_OP, MPI_ERR_RMA_RANGE.
  [[nodiscard]] int combine(const TargetMemory& memory, std::vector<portals::Buffer>& table,
                            std::vector<std::byte>& old, sim::AccumulateLock& lock) const;
  // Of --check-rma: the access that is announced, and the bytes that it means. nullopt: none is described.
  [[nodiscard]] std::optional<AnnouncedAccess> announced() const;
  [[nodiscard]] std::vector<ByteRange> ranges() const;

 private:
  [[nodiscard]] bool is_swap() const { return head_.what == Ask::swap; }

  AskHead head_;
  Piece whole_;
  std::vector<Piece> many_;
  std::span<const std::byte> operands_;  // behind the pieces
};

}  // namespace margay::mpi_adi
