#include "mpi_adi/op/operation.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/op/operation_impl.hpp"

namespace margay::mpi_adi {

namespace {

// The type of Fortran's REAL*16.
__extension__ using Quadruple = __float128;
static_assert(sizeof(Quadruple) == basic_size_bytes(MPI_REAL16));

// Types of one size and sign share a loop, even if they belong to different languages.
Combine integer_of(MPI_Op op, MPI_Datatype type) {
  switch (type) {
    case MPI_CHAR:  // MPI_CHAR and MPI_CHARACTER are not in the standard's table; programs built for MPICH use them
    case MPI_CHARACTER:
    case MPI_SIGNED_CHAR:
    case MPI_INT8_T:
    case MPI_INTEGER1:
      return integer_combine<std::int8_t>(op);
    case MPI_UNSIGNED_CHAR:
    case MPI_UINT8_T:
      return integer_combine<std::uint8_t>(op);
    case MPI_SHORT:
    case MPI_INT16_T:
    case MPI_INTEGER2:
      return integer_combine<std::int16_t>(op);
    case MPI_UNSIGNED_SHORT:
    case MPI_UINT16_T:
      return integer_combine<std::uint16_t>(op);
    case MPI_INT:
    case MPI_INT32_T:
    case MPI_INTEGER:
    case MPI_INTEGER4:
      return integer_combine<std::int32_t>(op);
    case MPI_UNSIGNED:
    case MPI_UINT32_T:
      return integer_combine<std::uint32_t>(op);
    case MPI_LONG:
    case MPI_LONG_LONG_INT:
    case MPI_INT64_T:
    case MPI_INTEGER8:
    case MPI_AINT:
    case MPI_OFFSET:
    case MPI_COUNT:
      return integer_combine<std::int64_t>(op);
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
    case MPI_UINT64_T:
      return integer_combine<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

// Real and complex types: also logical operations on reals, which the standard's table does not have
// (is_nonportable()).
Combine combine_of_reals(MPI_Op op, MPI_Datatype type) {
  switch (type) {
    case MPI_FLOAT:
    case MPI_REAL:
    case MPI_REAL4:
      return real_combine<float>(op);
    case MPI_DOUBLE:
    case MPI_DOUBLE_PRECISION:
    case MPI_REAL8:
      return real_combine<double>(op);
    case MPI_LONG_DOUBLE:
      return real_combine<long double>(op);
    case MPI_C_FLOAT_COMPLEX:
    case MPI_CXX_FLOAT_COMPLEX:
    case MPI_COMPLEX:
    case MPI_COMPLEX8:
      return complex_combine<float>(op);
    case MPI_C_DOUBLE_COMPLEX:
    case MPI_CXX_DOUBLE_COMPLEX:
    case MPI_DOUBLE_COMPLEX:
    case MPI_COMPLEX16:
      return complex_combine<double>(op);
    case MPI_REAL16:
      return real_combine<Quadruple>(op);
    case MPI_COMPLEX32:
      return complex_combine<Quadruple>(op);
    case MPI_C_LONG_DOUBLE_COMPLEX:
    case MPI_CXX_LONG_DOUBLE_COMPLEX:
      return complex_combine<long double>(op);
    default:
      return nullptr;
  }
}

// Types with one kind of operation: bits, logicals, pairs.
Combine other_of(MPI_Op op, MPI_Datatype type) {
  switch (type) {
    case MPI_BYTE:
      return bit_combine<std::uint8_t>(op);
    case MPI_LOGICAL:
      return logical_combine<std::int32_t>(op);
    case MPI_C_BOOL:
    case MPI_CXX_BOOL:
      return logical_combine<bool>(op);
    case MPI_2INT:
    case MPI_2INTEGER:
      return pair_combine<int>(op);
    case MPI_2REAL:
      return pair_combine<float, float>(op);
    case MPI_2DOUBLE_PRECISION:
      return pair_combine<double, double>(op);
    case MPI_FLOAT_INT:
      return pair_combine<float>(op);
    case MPI_DOUBLE_INT:
      return pair_combine<double>(op);
    case MPI_LONG_INT:
      return pair_combine<long>(op);
    case MPI_SHORT_INT:
      return pair_combine<short>(op);
    case MPI_LONG_DOUBLE_INT:
      return pair_combine<long double>(op);
    default:
      return nullptr;
  }
}

}  // namespace

Combine predefined_combine(MPI_Op op, MPI_Datatype type) {
  // An operation of the program has no loop here; its function is called elsewhere.
  if (!is_predefined_op(op)) return nullptr;
  if (Combine combine = integer_of(op, type); combine != nullptr) return combine;
  if (Combine combine = combine_of_reals(op, type); combine != nullptr) return combine;
  return other_of(op, type);
}

bool is_nonportable(MPI_Op op, MPI_Datatype type) {
  // combine_of_reals() has these operations only for reals.
  return (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) && combine_of_reals(op, type) != nullptr;
}

namespace {

// In the order of their handles, from MPI_MAX on.
constexpr std::array<std::string_view, kPredefinedOpCount> kOperations{
    "MPI_MAX", "MPI_MIN",  "MPI_SUM",  "MPI_PROD",   "MPI_LAND",   "MPI_BAND",    "MPI_LOR",
    "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
static_assert(op_index(MPI_MAX) == 1 && op_index(MPI_NO_OP) == kOperations.size());

// A separate table, so that this folder depends on the ABI only.
struct TypeName {
  MPI_Datatype handle;
  std::string_view name;
};
constexpr TypeName kTypes[] = {
    {MPI_CHAR, "MPI_CHAR"},
    {MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR"},
    {MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR"},
    {MPI_BYTE, "MPI_BYTE"},
    {MPI_WCHAR, "MPI_WCHAR"},
    {MPI_SHORT, "MPI_SHORT"},
    {MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT"},
    {MPI_INT, "MPI_INT"},
    {MPI_UNSIGNED, "MPI_UNSIGNED"},
    {MPI_LONG, "MPI_LONG"},
    {MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG"},
    {MPI_FLOAT, "MPI_FLOAT"},
    {MPI_DOUBLE, "MPI_DOUBLE"},
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE"},
    {MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT"},
    {MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG"},
    {MPI_PACKED, "MPI_PACKED"},
    {MPI_INT8_T, "MPI_INT8_T"},
    {MPI_INT16_T, "MPI_INT16_T"},
    {MPI_INT32_T, "MPI_INT32_T"},
    {MPI_INT64_T, "MPI_INT64_T"},
    {MPI_UINT8_T, "MPI_UINT8_T"},
    {MPI_UINT16_T, "MPI_UINT16_T"},
    {MPI_UINT32_T, "MPI_UINT32_T"},
    {MPI_UINT64_T, "MPI_UINT64_T"},
    {MPI_C_BOOL, "MPI_C_BOOL"},
    {MPI_C_FLOAT_COMPLEX, "MPI_C_FLOAT_COMPLEX"},
    {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX"},
    {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX"},
    {MPI_AINT, "MPI_AINT"},
    {MPI_OFFSET, "MPI_OFFSET"},
    {MPI_COUNT, "MPI_COUNT"},
    {MPI_CXX_BOOL, "MPI_CXX_BOOL"},
    {MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX"},
    {MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX"},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX"},
    {MPI_2INT, "MPI_2INT"},
    {MPI_COMPLEX, "MPI_COMPLEX"},
    {MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX"},
    {MPI_LOGICAL, "MPI_LOGICAL"},
    {MPI_REAL, "MPI_REAL"},
    {MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION"},
    {MPI_INTEGER, "MPI_INTEGER"},
    {MPI_2INTEGER, "MPI_2INTEGER"},
    {MPI_2REAL, "MPI_2REAL"},
    {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION"},
    {MPI_CHARACTER, "MPI_CHARACTER"},
    {MPI_REAL4, "MPI_REAL4"},
    {MPI_REAL8, "MPI_REAL8"},
    {MPI_COMPLEX8, "MPI_COMPLEX8"},
    {MPI_COMPLEX16, "MPI_COMPLEX16"},
    {MPI_INTEGER1, "MPI_INTEGER1"},
    {MPI_INTEGER2, "MPI_INTEGER2"},
    {MPI_INTEGER4, "MPI_INTEGER4"},
    {MPI_INTEGER8, "MPI_INTEGER8"},
    {MPI_REAL16, "MPI_REAL16"},
    {MPI_COMPLEX32, "MPI_COMPLEX32"},
    {MPI_FLOAT_INT, "MPI_FLOAT_INT"},
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT"},
    {MPI_LONG_INT, "MPI_LONG_INT"},
    {MPI_SHORT_INT, "MPI_SHORT_INT"},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT"},
};

std::string hex(int handle) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
  return text;
}

}  // namespace

// For errors, so its cost does not matter.
std::string operation_text(MPI_Op op) {
  if (op == MPI_OP_NULL) return "MPI_OP_NULL";
  return is_predefined_op(op) ? std::string(kOperations[op_index(op) - 1]) : "operation " + hex(op);
}

std::string type_text(MPI_Datatype type) {
  for (const TypeName& known : kTypes) {
    if (known.handle == type) return std::string(known.name);
  }
  return "datatype " + hex(type) + ", which the program made";
}

}  // namespace margay::mpi_adi
