// Parts of arrays as datatypes (MPI 4.0, 5.1.3 and 5.1.4). Arguments were checked by the bindings; like construct.hpp,
// nullptr when something does not fit in 63 bits.
#pragma once

#include <span>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// A box of `subsizes` elements at `starts` in an array of `sizes`. `order`: MPI_ORDER_C or MPI_ORDER_FORTRAN.
[[nodiscard]] TypePtr make_subarray(std::span<const int> sizes, std::span<const int> subsizes,
                                    std::span<const int> starts, int order, const TypePtr& old, TypeOrigin origin);
[[nodiscard]] TypePtr make_subarray(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
                                    std::span<const MPI_Count> starts, int order, const TypePtr& old,
                                    TypeOrigin origin);

// One dimension of a distributed array, and this process's place in it.
struct Distribution {
  std::int64_t array = 1;      // elements of the whole dimension
  std::int64_t block = 1;      // elements dealt at a time
  std::int64_t processes = 1;  // that they are dealt to in turn
  std::int64_t place = 0;      // of this process among them
};
// What this process has of the array; dimensions in the order of `order`.
[[nodiscard]] TypePtr make_darray(std::span<const Distribution> dimensions, int order, const TypePtr& old,
                                  TypeOrigin origin);

}  // namespace margay::mpi_adi
