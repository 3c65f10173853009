// The builder that all type constructors share. It builds a definition block by block, and checks every sum for
// overflow.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/definition.hpp"
#include "mpi_adi/datatype/layout_build.hpp"

namespace margay::mpi_adi {

// The most bytes of data in one element. The sum of two such numbers does not wrap round.
inline constexpr std::uint64_t kTypeBytesMax = std::uint64_t{1} << 62;

// A group of elements in a regular pattern: `blocks` blocks of `length` elements, the blocks `stride` bytes apart, the
// first at `offset`. Elements in a block are one extent apart.
struct TypeBlocks {
  // In bytes from the element's address.
  std::int64_t offset = 0;
  std::int64_t blocks = 1;
  std::int64_t length = 1;
  std::int64_t stride = 0;
};

// Builds one definition: add() in type-map order, then finish() once. An overflow is remembered, and finish() then
// returns nullptr, so callers need not check each step.
//
//   TypeBuilder builder;
//   builder.add({.offset = 0, .blocks = 2, .length = 1, .stride = 16}, type);
//   TypePtr made = builder.finish(origin);
class TypeBuilder {
 public:
  // Reserves room for this number of groups. Its only effect is to save reallocation.
  void reserve(std::size_t groups) { layout_.reserve(groups); }
  // Adds a group of elements of `type`, behind those added before. Requires: blocks and length are not negative.
  void add(const TypeBlocks& group, const TypePtr& type);
  // Sets a bound without data (MPI_LB, MPI_UB). If several are set, the outermost one counts.
  void set_lower(std::int64_t at);
  void set_upper(std::int64_t at);
  // Extends the extent to a multiple of the strictest alignment, like that of a C struct. Called after all parts are
  // added.
  void pad();
  // Makes the definition. nullptr: a size or bound does not fit in 63 bits. The builder must not be used afterwards.
  [[nodiscard]] TypePtr finish(TypeOrigin origin);
  // The same with given bounds, which replace the found bounds and count as set.
  [[nodiscard]] TypePtr finish(TypeOrigin origin, std::int64_t lower, std::int64_t upper);

 private:
  struct Reach {  // the distances of the first and last element from offset 0
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  // The distances of a group's elements. False on overflow.
  [[nodiscard]] bool reach_of(const TypeBlocks& group, const TypeDefinition& type, Reach& reach);
  // Widens `bounds` by the bounds `by` of the elements at both ends of the reach.
  void widen(TypeBounds& bounds, bool& any, const TypeBounds& by, const Reach& reach);
  // The common end of both finish().
  [[nodiscard]] TypePtr build(TypeOrigin&& origin, const TypeBounds& bounds);
  // Takes over the bounds of a group's type.
  void take_bounds(const TypeDefinition& type, const Reach& reach);
  // a + b; false, and the builder fails, when it does not fit.
  [[nodiscard]] bool sum(std::int64_t a, std::int64_t b, std::int64_t& out) {
    return !__builtin_add_overflow(a, b, &out) || (fits_ = false);
  }

  // The places of the data, and the types of the packed data. Both fold as parts are added.
  LayoutSequence layout_;
  LayoutSequence signature_;
  // Sums over all groups; see TypeDefinition.
  std::uint64_t size_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t external_size_ = 0;
  std::uint32_t alignment_ = 1;
  // found: computed from the parts. set: by markers, or inherited from parts whose bounds were set. true: of the data
  // alone.
  TypeBounds found_;
  TypeBounds set_;
  TypeBounds true_;
  bool any_found_ = false;
  bool any_true_ = false;
  bool lower_set_ = false;
  bool upper_set_ = false;
  // False after an overflow. Later add() calls then do nothing.
  bool fits_ = true;
};

}  // namespace margay::mpi_adi
