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
  [[nodiscard]] portals::Region to_send(const void* buffer, std::int64_t count, const Datatype& type) {
    // A region is read or written; this one is only read.
    auto* const bytes = const_cast<void*>(buffer);
    return type.dense() ? run(bytes, count, type) : pieces_to_send(bytes, count, type);
  }
  [[nodiscard]] portals::Region to_receive(void* buffer, std::int64_t count, Datatype& type) {
    return type.dense() ? run(buffer, count, type) : pieces_to_receive(buffer, count, type);
  }
  // The first `bytes` have been received. No effect unless the memory is packed.
  void unpack(std::uint64_t bytes) {
    if (type_ != nullptr) fill_from_packed(bytes);
  }
  [[nodiscard]] bool packed() const { return packed_ != nullptr; }
  // The table of the latest region. Requires: that region is not contiguous.
  [[nodiscard]] std::span<const portals::Buffer> table() const { return table_; }
  // Gives up what it refers to, keeps the table's memory.
  void clear() {
    if (!table_.empty() || packed_ != nullptr) give_up();
  }

 private:
  [[nodiscard]] static portals::Region run(void* buffer, std::int64_t count, const Datatype& type) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * type.size;
    return bytes == 0 ? portals::Region() : portals::Region(buffer, static_cast<std::size_t>(bytes));
  }
  [[nodiscard]] portals::Region pieces_to_send(void* buffer, std::int64_t count, const Datatype& type);
  [[nodiscard]] portals::Region pieces_to_receive(void* buffer, std::int64_t count, Datatype& type);
  void fill_from_packed(std::uint64_t bytes);
  void give_up();
  [[nodiscard]] bool tabulate(std::byte* buffer, std::int64_t count, const Datatype& type);
  [[nodiscard]] bool add(std::byte* base, std::uint64_t bytes);

  std::vector<portals::Buffer> table_;
  std::unique_ptr<std::byte[]> packed_;
  // Of a packed receive.
  std::byte* user_ = nullptr;
  Datatype* type_ = nullptr;  // holds a reference
};

}  // namespace margay::mpi_adi
