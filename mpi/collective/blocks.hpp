// The blocks of a call, one for each of several ranks: the program's memory as the arguments of MPI_Gather, MPI_Gatherv
// and MPI_Alltoallw name it (MPI 4.0, 6.5 to 6.8), as regions to transfer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/call/call.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi {

// A view of the program's array of counts or displacements. Its elements are ints, or of 64 bits in the functions for
// large counts. It is read only while the call's arguments are checked; Blocks contains what a request needs later.
class Numbers {
 public:
  Numbers() = default;
  template <typename Number>
  Numbers(const Number* numbers)  // NOLINT(google-explicit-constructor): an array is what is meant
      : numbers_(numbers), wide_(sizeof(Number) == sizeof(std::int64_t)) {}
  // The program's address, for checks.
  [[nodiscard]] const void* address() const { return numbers_; }
  [[nodiscard]] std::int64_t operator[](std::size_t at) const { return wide_ ? read<std::int64_t>(at) : read<int>(at); }

 private:
  template <typename Number>
  [[nodiscard]] std::int64_t read(std::size_t at) const {
    Number number;
    std::memcpy(&number, static_cast<const std::byte*>(numbers_) + at * sizeof number, sizeof number);
    return number;
  }
  const void* numbers_ = nullptr;
  bool wide_ = false;
};

// One side of a call, as the program names it. Refers to the program's memory and owns nothing.
struct BlockArguments {
  const void* buffer = nullptr;
  // Even blocks: `count` elements of `type` each, consecutive (MPI_Gather). Otherwise arrays: of counts, and of
  // displacements in extents of `type` (MPI_Gatherv), or in bytes if each block has its own type (MPI_Alltoallw).
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Numbers counts = {};
  Numbers displacements = {};
  const MPI_Datatype* types = nullptr;
  enum class Sort : std::uint8_t { even, varying, typed } sort = Sort::even;
  const char* displacements_name = "displs";  // the standard's name, for messages

  // The three sorts of arguments, by the functions that have them: MPI_Gather, MPI_Gatherv, MPI_Alltoallw.
  static BlockArguments even(const void* buffer, std::int64_t count, MPI_Datatype type) {
    return {buffer, count, type};
  }
  static BlockArguments varying(const void* buffer, Numbers counts, Numbers displacements, MPI_Datatype type,
                                const char* displacements_name = "displs") {
    return {buffer, 0, type, counts, displacements, nullptr, Sort::varying, displacements_name};
  }
  static BlockArguments typed(const void* buffer, Numbers counts, Numbers displacements, const MPI_Datatype* types,
                              const char* displacements_name) {
    return {buffer, 0, MPI_DATATYPE_NULL, counts, displacements, types, Sort::typed, displacements_name};
  }
  [[nodiscard]] bool in_place() const { return buffer == MPI_IN_PLACE; }
};

// The side of a call, for the names in messages.
enum class Side : std::uint8_t { send, receive };

// The checked blocks of one side, as regions.
class Blocks {
 public:
  // Checks `blocks` blocks; sets the call's error: MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER, or MPI_ERR_ARG for a
  // null array. All blocks together have less than 2^63 bytes. The datatypes must outlive this object, so its owner
  // holds a reference to each (for_each_type()).
  void check(Call& call, const BlockArguments& arguments, int blocks, Side side);

  // All members below require: no error is set.
  [[nodiscard]] int size() const { return size_; }
  // The memory of block `at`. Requires: at < size().
  [[nodiscard]] portals::Region operator[](int at) const {
    const auto slot = static_cast<std::size_t>(at);
    return run_bytes_ != kNoRun ? portals::Region(run_ + slot * run_bytes_, run_bytes_) : regions_[slot];
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // of all blocks
  // The datatype of block `at`, for signatures.
  [[nodiscard]] const Datatype& type_of(int at) const {
    return more_types_.empty() ? *type_ : *more_types_[static_cast<std::size_t>(at)];
  }
  // Calls function(Datatype&) for each type that blocks refer to. A type of several blocks may be passed several times.
  template <typename Function>
  void for_each_type(Function function) const {
    if (type_ != nullptr) function(*type_);
    for (Datatype* const type : more_types_) function(*type);
  }

 private:
  // The checks of the two sorts: equal blocks, and blocks with counts and displacements.
  void check_even(Call& call, const BlockArguments& arguments, int blocks, Side side);
  void check_varying(Call& call, const BlockArguments& arguments, int blocks, Side side);
  // Appends a block.
  void add(std::byte* address, std::int64_t count, Datatype& type, Pieces& pieces);

  int size_ = 0;
  // Bytes of all blocks together.
  std::uint64_t bytes_ = 0;
  // Even blocks without gaps are one run and need no table, so a short call allocates nothing for them.
  static constexpr std::size_t kNoRun = ~std::size_t{0};
  std::byte* run_ = nullptr;
  std::size_t run_bytes_ = kNoRun;  // of one block
  std::vector<portals::Region> regions_;
  std::vector<Pieces> pieces_;  // one for each type, because all blocks of a type share its layout
  // The type of all blocks; null if each has its own, in more_types_.
  Datatype* type_ = nullptr;
  std::vector<Datatype*> more_types_;
};

}  // namespace margay::mpi
