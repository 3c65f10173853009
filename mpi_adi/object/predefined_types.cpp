#include "mpi_adi/object/predefined_types.hpp"

#include <cstddef>

namespace margay::mpi_adi {

namespace {

// The ABI's handles, grouped as the standard's tables (MPI 4.0, 3.2.2 and 5.9.4) have them.
constexpr std::array kBasicTypes{
    MPI_CHAR,
    MPI_SIGNED_CHAR,
    MPI_UNSIGNED_CHAR,
    MPI_BYTE,
    MPI_WCHAR,
    MPI_SHORT,
    MPI_UNSIGNED_SHORT,
    MPI_INT,
    MPI_UNSIGNED,
    MPI_LONG,
    MPI_UNSIGNED_LONG,
    MPI_FLOAT,
    MPI_DOUBLE,
    MPI_LONG_DOUBLE,
    MPI_LONG_LONG_INT,
    MPI_UNSIGNED_LONG_LONG,
    MPI_PACKED,
    MPI_INT8_T,
    MPI_INT16_T,
    MPI_INT32_T,
    MPI_INT64_T,
    MPI_UINT8_T,
    MPI_UINT16_T,
    MPI_UINT32_T,
    MPI_UINT64_T,
    MPI_C_BOOL,
    MPI_C_FLOAT_COMPLEX,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_AINT,
    MPI_OFFSET,
    MPI_COUNT,
    MPI_CXX_BOOL,
    MPI_CXX_FLOAT_COMPLEX,
    MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX,
    MPI_2INT,
    MPI_COMPLEX,
    MPI_DOUBLE_COMPLEX,
    MPI_LOGICAL,
    MPI_REAL,
    MPI_DOUBLE_PRECISION,
    MPI_INTEGER,
    MPI_2INTEGER,
    MPI_2REAL,
    MPI_2DOUBLE_PRECISION,
    MPI_CHARACTER,
    MPI_REAL4,
    MPI_REAL8,
    MPI_COMPLEX8,
    MPI_COMPLEX16,
    MPI_INTEGER1,
    MPI_INTEGER2,
    MPI_INTEGER4,
    MPI_INTEGER8,
    MPI_REAL16,
    MPI_COMPLEX32,
};

void make_predefined(Datatype& type, MPI_Datatype handle, std::uint64_t size) {
  type.handle = handle;
  type.size = size;
  type.extent = static_cast<std::int64_t>(size);
  type.basic = handle;
  type.predefined = true;
  type.committed = true;
  type.blocks = {{0, size}};
}

// A value and an int behind it, as C lays the struct out.
template <typename Value>
void make_pair(Datatype& type, MPI_Datatype handle) {
  struct Pair {
    Value value;
    int index;
  };
  make_predefined(type, handle, sizeof(Value) + sizeof(int));
  type.extent = static_cast<std::int64_t>(sizeof(Pair));
  constexpr std::size_t index_at = offsetof(Pair, index);
  if constexpr (index_at == sizeof(Value)) {
    type.blocks = {{0, sizeof(Value) + sizeof(int)}};
  } else {
    type.blocks = {{0, sizeof(Value)}, {static_cast<std::int64_t>(index_at), sizeof(int)}};
  }
}

}  // namespace

PredefinedTypes::PredefinedTypes() {
  for (MPI_Datatype handle : kBasicTypes)
    make_predefined(basic_[basic_index(handle)], handle, basic_size_bytes(handle));
  make_pair<float>(pairs_[handle_index(MPI_FLOAT_INT)], MPI_FLOAT_INT);
  make_pair<double>(pairs_[handle_index(MPI_DOUBLE_INT)], MPI_DOUBLE_INT);
  make_pair<long>(pairs_[handle_index(MPI_LONG_INT)], MPI_LONG_INT);
  make_pair<short>(pairs_[handle_index(MPI_SHORT_INT)], MPI_SHORT_INT);
  make_pair<long double>(pairs_[handle_index(MPI_LONG_DOUBLE_INT)], MPI_LONG_DOUBLE_INT);
}

}  // namespace margay::mpi_adi
