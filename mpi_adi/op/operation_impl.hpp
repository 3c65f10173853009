// The loops of the predefined operations, one template for each kind of operation. Private to operation.cpp, which is
// compiled with -O3 for them.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "mpi_adi/op/operation.hpp"

namespace margay::mpi_adi {

// Applies `Op` (a struct with `static T apply(T in, T inout)`) to arrays of `count` elements, each aligned for T. They
// do not overlap, which allows the compiler to vectorize the loop. `Op` is a type and not a function pointer, so that
// apply() is inlined.
template <typename T, typename Op>
void combine_elements(const void* in, void* inout, std::size_t count) {
  // Without __restrict, each store could change a later load, and the loop would stay scalar.
  const T* __restrict from = static_cast<const T*>(in);
  T* __restrict to = static_cast<T*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i] = Op::apply(from[i], to[i]);
}

// The operations on one pair of values. In each, `a` is the element of `in` (in a collective reduction, the part of the
// lower ranks), and `b` is that of `inout`, which gets the result. MPI_MAX and MPI_MIN. A comparison with a NaN is
// false, so a NaN in `inout` stays, and a NaN in `in` is ignored.
template <typename T>
struct MaxOf {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <typename T>
struct MinOf {
  static T apply(T a, T b) { return a < b ? a : b; }
};
// The type in which integers are added and multiplied: unsigned, and at least as wide as `unsigned`. So a sum that does
// not fit wraps round, as in other MPIs, and is not undefined behaviour.
template <typename T, bool = std::is_integral_v<T>>
struct Arithmetic {
  using Type = T;
};
template <typename T>
struct Arithmetic<T, true> {
  using Type = std::make_unsigned_t<std::common_type_t<T, int>>;
};
// The functor of MPI_SUM, on integers, reals and complex numbers.
template <typename T>
struct SumOf {
  using Wide = typename Arithmetic<T>::Type;
  static T apply(T a, T b) { return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)); }
};
// The functor of MPI_PROD. Small integers are widened, because an unsigned short promotes to a signed int, whose
// product could overflow.
template <typename T>
struct ProductOf {
  using Wide = typename Arithmetic<T>::Type;
  static T apply(T a, T b) { return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b)); }
};
// MPI_LAND, MPI_LOR and MPI_LXOR: any value but 0 is true, the result is 0 or 1.
template <typename T>
struct LogicalAnd {
  static T apply(T a, T b) { return static_cast<T>(a != T{} && b != T{}); }
};
template <typename T>
struct LogicalOr {
  static T apply(T a, T b) { return static_cast<T>(a != T{} || b != T{}); }
};
template <typename T>
struct LogicalXor {
  static T apply(T a, T b) { return static_cast<T>((a != T{}) != (b != T{})); }
};
// MPI_BAND, MPI_BOR and MPI_BXOR, on integers and on MPI_BYTE. The cast undoes C's promotion of small integers to int.
template <typename T>
struct BitAnd {
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <typename T>
struct BitOr {
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <typename T>
struct BitXor {
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};

// A value and its index, in the layout of the pair types. For MPI_FLOAT_INT and similar types, that is the layout of
// the C struct, padding included. For equal values the lower index wins (MPI 4.0, 6.9.4).
template <typename T, typename Index = int>
struct ValueIndex {
  T value;
  Index index;
};
// The functor of MPI_MAXLOC. If either value is a NaN, the pair in `inout` stays.
template <typename Pair>
struct MaxLocation {
  static Pair apply(Pair a, Pair b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value > b.value ? a : b;
  }
};
// The functor of MPI_MINLOC; ties and NaNs as above.
template <typename Pair>
struct MinLocation {
  static Pair apply(Pair a, Pair b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value < b.value ? a : b;
  }
};

// Each function below has the loops of one kind of operation, instantiated for one type; nullptr for an operation of
// another kind. integer_combine() and the functions behind it compose the standard's table of valid combinations from
// these functions.
template <typename T>
Combine order_combine(MPI_Op op) {
  if (op == MPI_MAX) return combine_elements<T, MaxOf<T>>;
  return op == MPI_MIN ? combine_elements<T, MinOf<T>> : nullptr;
}
// Sum and product, the only operations on complex numbers.
template <typename T>
Combine arithmetic_combine(MPI_Op op) {
  if (op == MPI_SUM) return combine_elements<T, SumOf<T>>;
  return op == MPI_PROD ? combine_elements<T, ProductOf<T>> : nullptr;
}
template <typename T>
Combine logical_combine(MPI_Op op) {
  switch (op) {
    case MPI_LAND:
      return combine_elements<T, LogicalAnd<T>>;
    case MPI_LOR:
      return combine_elements<T, LogicalOr<T>>;
    case MPI_LXOR:
      return combine_elements<T, LogicalXor<T>>;
    default:
      return nullptr;
  }
}
template <typename T>
Combine bit_combine(MPI_Op op) {
  switch (op) {
    case MPI_BAND:
      return combine_elements<T, BitAnd<T>>;
    case MPI_BOR:
      return combine_elements<T, BitOr<T>>;
    case MPI_BXOR:
      return combine_elements<T, BitXor<T>>;
    default:
      return nullptr;
  }
}
// Pairs of a value and an index (MPI 4.0, 6.9.4).
template <typename Pair>
Combine location_combine(MPI_Op op) {
  if (op == MPI_MAXLOC) return combine_elements<Pair, MaxLocation<Pair>>;
  return op == MPI_MINLOC ? combine_elements<Pair, MinLocation<Pair>> : nullptr;
}

// The operations of each class of types (MPI 4.0, 6.9.2), as a chain of the functions above. If one returns nullptr,
// the next is tried; nullptr from the last one becomes MPI_ERR_OP.
template <typename T>
Combine integer_combine(MPI_Op op) {
  if (Combine order = order_combine<T>(op); order != nullptr) return order;
  if (Combine arithmetic = arithmetic_combine<T>(op); arithmetic != nullptr) return arithmetic;
  if (Combine logical = logical_combine<T>(op); logical != nullptr) return logical;
  return bit_combine<T>(op);
}
// The standard does not define logical operations on reals; like MPICH, margay performs them as C does
// (is_nonportable()).
template <typename T>
Combine real_combine(MPI_Op op) {
  if (Combine order = order_combine<T>(op); order != nullptr) return order;
  if (Combine arithmetic = arithmetic_combine<T>(op); arithmetic != nullptr) return arithmetic;
  return logical_combine<T>(op);
}
// Complex numbers have no order, so only sum and product.
template <typename T>
Combine complex_combine(MPI_Op op) {
  return arithmetic_combine<std::complex<T>>(op);
}
// Pairs have MPI_MAXLOC and MPI_MINLOC only.
template <typename T, typename Index = int>
Combine pair_combine(MPI_Op op) {
  return location_combine<ValueIndex<T, Index>>(op);
}

}  // namespace margay::mpi_adi
