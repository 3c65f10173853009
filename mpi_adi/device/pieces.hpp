// Where the bytes of `count` elements of a datatype lie: one run, a table of pieces, or, when there are very many
// pieces, a packed copy. Paper 001, section 5: the combined block "was designed to be used for operations with
// non-contiguous datatypes"; here nothing is packed below kPiecesMax.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi_adi/object/datatype.hpp"
#include "portals/memory/region.hpp"

namespace margay::mpi_adi {

// 16 bytes a piece: a table of one MiB. Above, a copy costs less than walking the table.
inline constexpr std::size_t kPiecesMax = 65536;

class Pieces {
 public:
  // The region of `count` elements at `buffer`. Neighbours that touch are one piece. Valid until the next call,
  // clear(), or the object's end; the user's memory must stay too. With very many pieces: for a send, a packed copy;
  // for a receive, memory of the packed size, from which unpack() fills the user's.
  [[nodiscard]] portals::Region to_send(const void* buffer, std::int64_t count, const Datatype& type);
  [[nodiscard]] portals::Region to_receive(void* buffer, std::int64_t count, Datatype& type);
  // The first `bytes` have been received. No effect unless the memory is packed.
  void unpack(std::uint64_t bytes);
  [[nodiscard]] bool packed() const { return packed_ != nullptr; }
  // The table of the latest region. Requires: that region is not contiguous.
  [[nodiscard]] std::span<const portals::Buffer> table() const { return table_; }
  // Gives up what it refers to, keeps the table's memory.
  void clear();

 private:
  [[nodiscard]] bool tabulate(std::byte* buffer, std::int64_t count, const Datatype& type);
  [[nodiscard]] bool add(std::byte* base, std::uint64_t bytes);

  std::vector<portals::Buffer> table_;
  std::unique_ptr<std::byte[]> packed_;
  // Of a packed receive.
  std::byte* user_ = nullptr;
  Datatype* type_ = nullptr;  // holds a reference
};

}  // namespace margay::mpi_adi
