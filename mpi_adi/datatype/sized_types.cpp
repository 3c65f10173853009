#include "mpi_adi/datatype/sized_types.hpp"

#include <array>
#include <limits>

#include "mpi_adi/abi/handles.hpp"

namespace margay::mpi_adi {

namespace {

struct Sized {
  int type_class;
  MPI_Datatype type;
};
constexpr std::array kSized{
    Sized{MPI_TYPECLASS_REAL, MPI_REAL4},        Sized{MPI_TYPECLASS_REAL, MPI_REAL8},
    Sized{MPI_TYPECLASS_REAL, MPI_REAL16},       Sized{MPI_TYPECLASS_INTEGER, MPI_INTEGER1},
    Sized{MPI_TYPECLASS_INTEGER, MPI_INTEGER2},  Sized{MPI_TYPECLASS_INTEGER, MPI_INTEGER4},
    Sized{MPI_TYPECLASS_INTEGER, MPI_INTEGER8},  Sized{MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},
    Sized{MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16}, Sized{MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32},
};

// PRECISION() and RANGE() of each kind, smallest first.
struct Kind {
  int digits;
  int range;
  MPI_Datatype real;
  MPI_Datatype complex;
};
constexpr std::array kKinds{
    Kind{std::numeric_limits<float>::digits10, std::numeric_limits<float>::max_exponent10 - 1, MPI_REAL, MPI_COMPLEX},
    Kind{std::numeric_limits<double>::digits10, std::numeric_limits<double>::max_exponent10 - 1, MPI_DOUBLE_PRECISION,
         MPI_DOUBLE_COMPLEX},
    Kind{std::numeric_limits<long double>::digits10, std::numeric_limits<long double>::max_exponent10 - 1,
         MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    Kind{33, 4931, MPI_REAL16, MPI_COMPLEX32},  // the 128 bits of IEEE
};

const Kind* kind_of(int digits, int range) {
  for (const Kind& kind : kKinds) {
    if ((digits == MPI_UNDEFINED || digits <= kind.digits) && (range == MPI_UNDEFINED || range <= kind.range))
      return &kind;
  }
  return nullptr;
}

}  // namespace

MPI_Datatype type_of_size(int type_class, int size) {
  for (const Sized& sized : kSized) {
    if (sized.type_class == type_class && static_cast<int>(basic_size_bytes(sized.type)) == size) return sized.type;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Datatype real_of(int digits, int range) {
  const Kind* kind = kind_of(digits, range);
  return kind != nullptr ? kind->real : MPI_DATATYPE_NULL;
}

MPI_Datatype complex_of(int digits, int range) {
  const Kind* kind = kind_of(digits, range);
  return kind != nullptr ? kind->complex : MPI_DATATYPE_NULL;
}

MPI_Datatype integer_of(int range) {
  if (range <= 2) return MPI_INTEGER1;
  if (range <= 4) return MPI_INTEGER2;
  if (range <= 9) return MPI_INTEGER4;
  return range <= 18 ? MPI_INTEGER8 : MPI_DATATYPE_NULL;
}

}  // namespace margay::mpi_adi
