#include "mpi_adi/datatype/predefined_types.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/external32.hpp"
#include "mpi_adi/datatype/layout_build.hpp"

namespace margay::mpi_adi {

namespace {

// The properties of a basic type, except its size, which is in its handle.
struct Basic {
  MPI_Datatype handle;
  const char* name;
  std::uint32_t alignment;  // bytes, as for the corresponding type of C
  // The type of both halves, for the pairs of MPI_MINLOC and MPI_MAXLOC; 0 for other types.
  MPI_Datatype half = 0;
};

// The ABI's basic types, grouped as in the standard's tables (MPI 4.0, 3.2.2 and 6.9.4).
constexpr std::array kBasicTypes{
    Basic{MPI_CHAR, "MPI_CHAR", 1},
    Basic{MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", 1},
    Basic{MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", 1},
    Basic{MPI_BYTE, "MPI_BYTE", 1},
    Basic{MPI_WCHAR, "MPI_WCHAR", alignof(wchar_t)},
    Basic{MPI_SHORT, "MPI_SHORT", alignof(short)},
    Basic{MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", alignof(short)},
    Basic{MPI_INT, "MPI_INT", alignof(int)},
    Basic{MPI_UNSIGNED, "MPI_UNSIGNED", alignof(int)},
    Basic{MPI_LONG, "MPI_LONG", alignof(long)},
    Basic{MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", alignof(long)},
    Basic{MPI_FLOAT, "MPI_FLOAT", alignof(float)},
    Basic{MPI_DOUBLE, "MPI_DOUBLE", alignof(double)},
    Basic{MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", alignof(long double)},
    Basic{MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT", alignof(long long)},
    Basic{MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", alignof(long long)},
    Basic{MPI_PACKED, "MPI_PACKED", 1},
    Basic{MPI_INT8_T, "MPI_INT8_T", 1},
    Basic{MPI_INT16_T, "MPI_INT16_T", 2},
    Basic{MPI_INT32_T, "MPI_INT32_T", 4},
    Basic{MPI_INT64_T, "MPI_INT64_T", 8},
    Basic{MPI_UINT8_T, "MPI_UINT8_T", 1},
    Basic{MPI_UINT16_T, "MPI_UINT16_T", 2},
    Basic{MPI_UINT32_T, "MPI_UINT32_T", 4},
    Basic{MPI_UINT64_T, "MPI_UINT64_T", 8},
    Basic{MPI_C_BOOL, "MPI_C_BOOL", 1},
    Basic{MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", alignof(float)},
    Basic{MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", alignof(double)},
    Basic{MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", alignof(long double)},
    Basic{MPI_AINT, "MPI_AINT", alignof(MPI_Aint)},
    Basic{MPI_OFFSET, "MPI_OFFSET", alignof(MPI_Offset)},
    Basic{MPI_COUNT, "MPI_COUNT", alignof(MPI_Count)},
    Basic{MPI_CXX_BOOL, "MPI_CXX_BOOL", 1},
    Basic{MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", alignof(float)},
    Basic{MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", alignof(double)},
    Basic{MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", alignof(long double)},
    Basic{MPI_2INT, "MPI_2INT", alignof(int), MPI_INT},
    Basic{MPI_COMPLEX, "MPI_COMPLEX", 4},
    Basic{MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", 8},
    Basic{MPI_LOGICAL, "MPI_LOGICAL", 4},
    Basic{MPI_REAL, "MPI_REAL", 4},
    Basic{MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", 8},
    Basic{MPI_INTEGER, "MPI_INTEGER", 4},
    Basic{MPI_2INTEGER, "MPI_2INTEGER", 4, MPI_INTEGER},
    Basic{MPI_2REAL, "MPI_2REAL", 4, MPI_REAL},
    Basic{MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", 8, MPI_DOUBLE_PRECISION},
    Basic{MPI_CHARACTER, "MPI_CHARACTER", 1},
    Basic{MPI_REAL4, "MPI_REAL4", 4},
    Basic{MPI_REAL8, "MPI_REAL8", 8},
    Basic{MPI_COMPLEX8, "MPI_COMPLEX8", 4},
    Basic{MPI_COMPLEX16, "MPI_COMPLEX16", 8},
    Basic{MPI_INTEGER1, "MPI_INTEGER1", 1},
    Basic{MPI_INTEGER2, "MPI_INTEGER2", 2},
    Basic{MPI_INTEGER4, "MPI_INTEGER4", 4},
    Basic{MPI_INTEGER8, "MPI_INTEGER8", 8},
    Basic{MPI_REAL16, "MPI_REAL16", 16},
    Basic{MPI_COMPLEX32, "MPI_COMPLEX32", 16},
    // The markers of MPI-1: they have no data, only a place in a struct.
    Basic{MPI_LB, "MPI_LB", 1},
    Basic{MPI_UB, "MPI_UB", 1},
};

void put(Datatype& type, std::shared_ptr<TypeDefinition> made, MPI_Datatype handle, const char* name) {
  made->predefined = handle;
  made->in_a_row.emplace(made->layout, made->extent());
  type = Datatype(std::move(made));
  type.handle = handle;
  type.predefined = true;
  type.committed = true;
  type.name = name;
}

std::shared_ptr<TypeDefinition> define_basic(const Basic& basic) {
  auto made = std::make_shared<TypeDefinition>();
  made->size = basic_size_bytes(basic.handle);
  // Markers have no elements.
  made->elements = made->size == 0 ? 0 : basic.half != 0 ? 2 : 1;
  made->external_size = made->size == 0 ? 0 : external32_basic_size(basic.handle);
  made->bounds.upper = made->true_bounds.upper = static_cast<std::int64_t>(made->size);
  made->alignment = basic.alignment;
  made->layout = layout_run(made->size);
  made->signature = layout_run(made->size, basic.half != 0 ? basic.half : basic.handle);
  return made;
}

// The definition of a value followed by an int, in the layout of the C struct.
template <typename Value>
std::shared_ptr<TypeDefinition> define_pair(MPI_Datatype value) {
  struct Pair {
    Value value;
    int index;
  };
  constexpr std::int64_t kIndexAt = offsetof(Pair, index);
  constexpr std::int64_t kValueBytes = sizeof(Value);
  const Layout index = layout_run(sizeof(int));
  auto made = std::make_shared<TypeDefinition>();
  made->size = sizeof(Value) + sizeof(int);
  made->elements = 2;
  made->external_size = external32_basic_size(value) + external32_basic_size(MPI_INT);
  made->bounds.upper = sizeof(Pair);
  made->true_bounds.upper = kIndexAt + static_cast<std::int64_t>(sizeof(int));
  made->alignment = alignof(Pair);
  LayoutSequence layout;
  // Layout and signature do not contain the gap between value and index, because packed data has no padding.
  layout.add(0, layout_run(sizeof(Value)));
  layout.add(kIndexAt, index);
  made->layout = layout.finish();
  LayoutSequence signature;
  signature.add(0, layout_run(sizeof(Value), value));
  signature.add(kValueBytes, layout_run(sizeof(int), MPI_INT));
  made->signature = signature.finish();
  return made;
}

}  // namespace

std::string_view basic_type_name(MPI_Datatype handle) {
  const auto* const found = std::find_if(kBasicTypes.begin(), kBasicTypes.end(),
                                         [handle](const Basic& basic) { return basic.handle == handle; });
  return found == kBasicTypes.end() ? std::string_view() : found->name;
}

MPI_Datatype basic_type_of_index(std::uint32_t index) {
  const auto* const found = std::find_if(kBasicTypes.begin(), kBasicTypes.end(),
                                         [index](const Basic& basic) { return basic_index(basic.handle) == index; });
  return found == kBasicTypes.end() ? MPI_DATATYPE_NULL : found->handle;
}

const TypeDefinition* predefined_definition(MPI_Datatype handle) {
  const Datatype* const found = PredefinedTypes::made().find(handle);
  return found == nullptr ? nullptr : found->definition.get();
}

const PredefinedTypes& PredefinedTypes::made() {
  // A static local variable, because its initialization is thread-safe: ranks of a virtual machine are threads.
  static const PredefinedTypes kMade{Make{}};
  return kMade;
}

PredefinedTypes::PredefinedTypes(Make /*make*/) {
  for (const Basic& basic : kBasicTypes)
    put(basic_[basic_index(basic.handle)], define_basic(basic), basic.handle, basic.name);
  const auto put_pair = [this](MPI_Datatype handle, std::shared_ptr<TypeDefinition> made, const char* name) {
    put(pairs_[handle_index(handle)], std::move(made), handle, name);
  };
  put_pair(MPI_FLOAT_INT, define_pair<float>(MPI_FLOAT), "MPI_FLOAT_INT");
  put_pair(MPI_DOUBLE_INT, define_pair<double>(MPI_DOUBLE), "MPI_DOUBLE_INT");
  put_pair(MPI_LONG_INT, define_pair<long>(MPI_LONG), "MPI_LONG_INT");
  put_pair(MPI_SHORT_INT, define_pair<short>(MPI_SHORT), "MPI_SHORT_INT");
  put_pair(MPI_LONG_DOUBLE_INT, define_pair<long double>(MPI_LONG_DOUBLE), "MPI_LONG_DOUBLE_INT");
}

namespace {

// A type of Fortran with its size in its name, for MPI_Type_match_size.
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

// PRECISION() and RANGE() of each real kind, smallest first. Kind 10, the processor's extended format, has no Fortran
// type in the ABI, so C's type stands for it.
struct NumberKind {
  int digits;
  int range;
  MPI_Datatype real;
  MPI_Datatype complex;
};
constexpr std::array kKinds{
    NumberKind{std::numeric_limits<float>::digits10, std::numeric_limits<float>::max_exponent10 - 1, MPI_REAL,
               MPI_COMPLEX},
    NumberKind{std::numeric_limits<double>::digits10, std::numeric_limits<double>::max_exponent10 - 1,
               MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX},
    NumberKind{std::numeric_limits<long double>::digits10, std::numeric_limits<long double>::max_exponent10 - 1,
               MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    NumberKind{33, 4931, MPI_REAL16, MPI_COMPLEX32},  // the 128-bit format of IEEE
};

const NumberKind* kind_of(int digits, int range) {
  for (const NumberKind& kind : kKinds) {
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
  const NumberKind* kind = kind_of(digits, range);
  return kind != nullptr ? kind->real : MPI_DATATYPE_NULL;
}

MPI_Datatype complex_of(int digits, int range) {
  const NumberKind* kind = kind_of(digits, range);
  return kind != nullptr ? kind->complex : MPI_DATATYPE_NULL;
}

MPI_Datatype integer_of(int range) {
  // All numbers with 2, 4, 9 and 18 decimal digits fit in 1, 2, 4 and 8 bytes.
  if (range <= 2) return MPI_INTEGER1;
  if (range <= 4) return MPI_INTEGER2;
  if (range <= 9) return MPI_INTEGER4;
  return range <= 18 ? MPI_INTEGER8 : MPI_DATATYPE_NULL;
}

}  // namespace margay::mpi_adi
