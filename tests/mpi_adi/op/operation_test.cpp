// Tests of the predefined operations: the types for which they are defined (MPI 4.0, 6.9.2), and their results.
#include "mpi_adi/op/operation.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace margay::mpi_adi {
namespace {

bool defined(MPI_Op op, MPI_Datatype type) {
  return predefined_combine(op, type) != nullptr;
}

template <typename T>
T combined(MPI_Op op, MPI_Datatype type, T in, T inout) {
  const Combine combine = predefined_combine(op, type);
  REQUIRE(defined(op, type));
  combine(&in, &inout, 1);
  return inout;
}

struct DoubleInt {
  double value;
  int index;
};

constexpr std::array kIntegers{MPI_INT,     MPI_LONG,     MPI_SHORT,    MPI_UNSIGNED,  MPI_UNSIGNED_LONG, MPI_INT8_T,
                               MPI_INT64_T, MPI_UINT16_T, MPI_UINT64_T, MPI_LONG_LONG, MPI_AINT,          MPI_COUNT};
constexpr std::array kReals{MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE};
constexpr std::array kComplex{MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX};
constexpr std::array kPairs{MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};

}  // namespace

TEST_CASE("each class of types has its operations and no others") {
  for (MPI_Datatype type : kIntegers) {
    for (MPI_Op op : {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR}) {
      CHECK(defined(op, type));
    }
    CHECK_FALSE(defined(MPI_MAXLOC, type));
    CHECK_FALSE(is_nonportable(MPI_LXOR, type));
  }
  for (MPI_Datatype type : kReals) {
    CHECK(defined(MPI_SUM, type));
    CHECK_FALSE(defined(MPI_BAND, type));
    CHECK(defined(MPI_LAND, type));  // as programs built for MPICH expect
    CHECK(is_nonportable(MPI_LAND, type));
    CHECK_FALSE(is_nonportable(MPI_SUM, type));
  }
  for (MPI_Datatype type : kComplex) {
    CHECK(defined(MPI_PROD, type));
    CHECK_FALSE(defined(MPI_MAX, type));
    CHECK_FALSE(defined(MPI_LXOR, type));
  }
  for (MPI_Datatype type : kPairs) {
    CHECK(defined(MPI_MAXLOC, type));
    CHECK_FALSE(defined(MPI_SUM, type));
  }
  CHECK(defined(MPI_BXOR, MPI_BYTE));
  CHECK_FALSE(defined(MPI_SUM, MPI_BYTE));
  CHECK(defined(MPI_LAND, MPI_C_BOOL));
  CHECK(defined(MPI_SUM, MPI_CHAR));  // as programs built for MPICH expect
  CHECK_FALSE(defined(MPI_SUM, MPI_WCHAR));
  CHECK_FALSE(defined(MPI_REPLACE, MPI_INT));
  CHECK(defined(MPI_MAX, MPI_REAL16));
  CHECK_FALSE(defined(MPI_MAX, MPI_COMPLEX32));
  CHECK_FALSE(defined(MPI_OP_NULL, MPI_INT));
}

template <typename T>
void check_sign(MPI_Datatype type) {
  CAPTURE(type);
  const T highest = std::numeric_limits<T>::max();
  const T other = std::numeric_limits<T>::min();  // the lowest, or 0
  CHECK(combined<T>(MPI_MAX, type, highest, other) == highest);
  CHECK(combined<T>(MPI_MIN, type, highest, other) == other);
  CHECK(combined<T>(MPI_MAX, type, other, 1) == 1);
  CHECK(combined<T>(MPI_SUM, type, highest, 1) == other);
}

TEST_CASE("each integer type has its size and its signedness") {
  for (MPI_Datatype type : {MPI_CHAR, MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1}) check_sign<std::int8_t>(type);
  for (MPI_Datatype type : {MPI_UNSIGNED_CHAR, MPI_UINT8_T}) check_sign<std::uint8_t>(type);
  for (MPI_Datatype type : {MPI_SHORT, MPI_INT16_T, MPI_INTEGER2}) check_sign<std::int16_t>(type);
  for (MPI_Datatype type : {MPI_UNSIGNED_SHORT, MPI_UINT16_T}) check_sign<std::uint16_t>(type);
  for (MPI_Datatype type : {MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4}) check_sign<std::int32_t>(type);
  for (MPI_Datatype type : {MPI_UNSIGNED, MPI_UINT32_T}) check_sign<std::uint32_t>(type);
  for (MPI_Datatype type : {MPI_LONG, MPI_LONG_LONG, MPI_INT64_T, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
    check_sign<std::int64_t>(type);
  }
  for (MPI_Datatype type : {MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T}) check_sign<std::uint64_t>(type);
}

TEST_CASE("operations on integers give the right results") {
  CHECK(combined<int>(MPI_MAX, MPI_INT, -3, 2) == 2);
  CHECK(combined<int>(MPI_MIN, MPI_INT, -3, 2) == -3);
  CHECK(combined<int>(MPI_SUM, MPI_INT, -3, 2) == -1);
  CHECK(combined<int>(MPI_PROD, MPI_INT, -3, 2) == -6);
  CHECK(combined<int>(MPI_LAND, MPI_INT, -3, 2) == 1);
  CHECK(combined<int>(MPI_BAND, MPI_INT, 6, 3) == 2);
  CHECK(combined<int>(MPI_LOR, MPI_INT, 0, 0) == 0);
  CHECK(combined<int>(MPI_BOR, MPI_INT, 6, 3) == 7);
  CHECK(combined<int>(MPI_LXOR, MPI_INT, 5, 7) == 0);
  CHECK(combined<int>(MPI_BXOR, MPI_INT, 6, 3) == 5);
  // Unsigned types stay unsigned: the largest value is not -1.
  CHECK(combined<std::uint32_t>(MPI_MAX, MPI_UNSIGNED, 0xffff'ffffU, 1U) == 0xffff'ffffU);
}

TEST_CASE("a real is true unless it is 0") {
  CHECK(combined<double>(MPI_LXOR, MPI_DOUBLE, 0.5, 2.0) == 0.0);
  CHECK(combined<double>(MPI_LXOR, MPI_DOUBLE, 0.5, 0.0) == 1.0);
  CHECK(combined<float>(MPI_LAND, MPI_REAL4, 0.25F, -3.0F) == 1.0F);
  CHECK(combined<long double>(MPI_LOR, MPI_LONG_DOUBLE, 0.0L, 0.0L) == 0.0L);
}

TEST_CASE("integer overflow wraps") {
  CHECK(combined<int>(MPI_SUM, MPI_INT, 0x7fff'ffff, 1) == -0x7fff'ffff - 1);
  CHECK(combined<std::int64_t>(MPI_PROD, MPI_INT64_T, std::int64_t{1} << 62, 4) == 0);
  CHECK(combined<std::int8_t>(MPI_SUM, MPI_INT8_T, 127, 1) == -128);
}

TEST_CASE("operations on reals and complex numbers give the right results") {
  CHECK(combined<double>(MPI_PROD, MPI_DOUBLE, 1.5, -2.0) == -3.0);
  using Complex = std::complex<double>;
  CHECK(combined<Complex>(MPI_PROD, MPI_C_DOUBLE_COMPLEX, {0, 1}, {0, 1}) == Complex(-1, 0));
}

TEST_CASE("of equal values the lower index is the result (MPI 4.0, 6.9.4)") {
  CHECK(combined<DoubleInt>(MPI_MAXLOC, MPI_DOUBLE_INT, {2.0, 7}, {2.0, 4}).index == 4);
  CHECK(combined<DoubleInt>(MPI_MINLOC, MPI_DOUBLE_INT, {2.0, 3}, {2.0, 4}).index == 3);
  CHECK(combined<DoubleInt>(MPI_MAXLOC, MPI_DOUBLE_INT, {3.0, 7}, {2.0, 4}).index == 7);
  CHECK(combined<DoubleInt>(MPI_MINLOC, MPI_DOUBLE_INT, {3.0, 7}, {2.0, 4}).value == 2.0);
}

}  // namespace margay::mpi_adi
