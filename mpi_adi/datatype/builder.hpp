// What all constructors share: a definition is gathered block by block, with every sum checked.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/definition.hpp"
#include "mpi_adi/datatype/layout_build.hpp"

namespace margay::mpi_adi {

inline constexpr std::uint64_t kTypeBytesMax = std::uint64_t{1} << 62;

// A group of elements in a regular pattern: `blocks` blocks of `length` elements, `stride` bytes apart, the first at
// `offset`.
struct TypeBlocks {
  std::int64_t offset = 0;
  std::int64_t blocks = 1;
  std::int64_t length = 1;
  std::int64_t stride = 0;
};

class TypeBuilder {
 public:
  void reserve(std::size_t groups) { layout_.reserve(groups); }
  // Adds a group of elements of `type`. Requires: blocks and length are not negative.
  void add(const TypeBlocks& group, const TypePtr& type);
  // A bound without data: MPI_LB, MPI_UB.
  void set_lower(std::int64_t at);
  void set_upper(std::int64_t at);
  // Lets the extent grow to the strictest alignment, as a C struct's does.
  void pad();
  // nullptr: something did not fit in 63 bits. The builder is used up.
  [[nodiscard]] TypePtr finish(TypeOrigin origin);
  // The same, with bounds that were set whatever was found.
  [[nodiscard]] TypePtr finish(TypeOrigin origin, std::int64_t lower, std::int64_t upper);

 private:
  struct Reach {  // how far elements lie from the first one's place
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  [[nodiscard]] bool reach_of(const TypeBlocks& group, const TypeDefinition& type, Reach& reach);
  void widen(TypeBounds& bounds, bool& any, const TypeBounds& by, const Reach& reach);
  [[nodiscard]] TypePtr build(TypeOrigin&& origin, const TypeBounds& bounds);
  void take_bounds(const TypeDefinition& type, const Reach& reach);
  [[nodiscard]] bool sum(std::int64_t a, std::int64_t b, std::int64_t& out) {
    return !__builtin_add_overflow(a, b, &out) || (fits_ = false);
  }

  LayoutSequence layout_;
  LayoutSequence signature_;
  std::uint64_t size_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t external_size_ = 0;
  std::uint32_t alignment_ = 1;
  TypeBounds found_;
  TypeBounds set_;
  TypeBounds true_;
  bool any_found_ = false;
  bool any_true_ = false;
  bool lower_set_ = false;
  bool upper_set_ = false;
  bool fits_ = true;
};

}  // namespace margay::mpi_adi
