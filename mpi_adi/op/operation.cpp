#include "mpi_adi/op/operation.hpp"

#include <cstdint>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/op/operation_impl.hpp"

namespace margay::mpi_adi {

namespace {

// Fortran's REAL*16.
__extension__ using Quadruple = __float128;
static_assert(sizeof(Quadruple) == basic_size_bytes(MPI_REAL16));

Combine integer_of(MPI_Op op, MPI_Datatype type) {
  switch (type) {
    case MPI_CHAR:  // neither is in the standard's table; programs built for MPICH use them
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

Combine real_of(MPI_Op op, MPI_Datatype type) {
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
  if (!is_predefined_op(op)) return nullptr;
  if (Combine combine = integer_of(op, type); combine != nullptr) return combine;
  if (Combine combine = real_of(op, type); combine != nullptr) return combine;
  return other_of(op, type);
}

bool is_nonportable(MPI_Op op, MPI_Datatype type) {
  return (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) && real_of(op, type) != nullptr;
}

}  // namespace margay::mpi_adi
