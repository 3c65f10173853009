// Handles of the MPICH ABI, decoded and encoded. A handle has 32 bits:
//   31-30  kind
//   29-26  object type
//   25-0   index, below type-specific bits; basic datatypes: size in bytes in 15-8, index in 7-0; keyvals: the type of
//          their objects in 25-22, index in 21-0
//
// MPI_File is a pointer, so it is not covered here. Pure arithmetic, no state. A program may pass any number as a
// handle, so the functions accept all values of an int, except where they name a requirement. The ABI's values are in
// mpi_adi/abi/mpi.h.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// All handles of the ABI but MPI_File are ints; 0 is never a valid handle.
using Handle = int;

// builtin: fixed by the ABI. direct, indirect: made at run time. margay makes only direct handles, and accepts no
// indirect ones.
enum class HandleKind : std::uint8_t { invalid = 0, builtin = 1, direct = 2, indirect = 3 };

// The types of objects. The numbers are the ABI's.
enum class ObjectType : std::uint8_t {
  none = 0,
  communicator = 1,
  group = 2,
  datatype = 3,
  file = 4,
  error_handler = 5,
  op = 6,
  info = 7,
  window = 8,
  keyval = 9,
  request = 11,
  session = 14,
};

// The fields of a handle, from its highest bit: kind, type, index.
inline constexpr unsigned kHandleKindShift = 30;
inline constexpr unsigned kHandleTypeShift = 26;
inline constexpr std::uint32_t kHandleTypeMask = 0xf;
inline constexpr std::uint32_t kHandleIndexMask = (1U << kHandleTypeShift) - 1;
// The highest index of a handle made at run time; tables use the upper bits for generations (object/handle_table).
inline constexpr std::uint32_t kMaxHandleIndex = kHandleIndexMask;
// A keyval's index is shorter, because the type of its objects is above it.
inline constexpr unsigned kKeyvalOwnerShift = 22;
inline constexpr std::uint32_t kKeyvalIndexMask = (1U << kKeyvalOwnerShift) - 1;

// Direct datatype handles with an index below this number are pair types with padding, for MPI_MINLOC and MPI_MAXLOC.
inline constexpr std::uint32_t kPairTypeCount = 5;

// The handle as an unsigned number.
[[nodiscard]] constexpr std::uint32_t handle_bits(Handle handle) {
  return static_cast<std::uint32_t>(handle);
}

// The parts of a handle, valid or not.
[[nodiscard]] constexpr HandleKind handle_kind(Handle handle) {
  return static_cast<HandleKind>(handle_bits(handle) >> kHandleKindShift);
}
// For an invalid handle the result may be a value without an enumerator.
[[nodiscard]] constexpr ObjectType object_type(Handle handle) {
  return static_cast<ObjectType>((handle_bits(handle) >> kHandleTypeShift) & kHandleTypeMask);
}
// The low 26 bits, whose meaning depends on the type.
[[nodiscard]] constexpr std::uint32_t handle_index(Handle handle) {
  return handle_bits(handle) & kHandleIndexMask;
}

// Makes a handle from its parts. Requires: index <= kMaxHandleIndex.
[[nodiscard]] constexpr Handle make_handle(HandleKind kind, ObjectType type, std::uint32_t index) {
  return static_cast<Handle>((static_cast<std::uint32_t>(kind) << kHandleKindShift) |
                             (static_cast<std::uint32_t>(type) << kHandleTypeShift) | (index & kHandleIndexMask));
}
// The handle of an object that the program made, at `index` of its type's table.
[[nodiscard]] constexpr Handle make_direct(ObjectType type, std::uint32_t index) {
  return make_handle(HandleKind::direct, type, index);
}
// The null handle of a type, such as MPI_COMM_NULL for communicators. For keyvals it is MPI_KEYVAL_INVALID.
[[nodiscard]] constexpr Handle null_handle(ObjectType type) {
  return make_handle(HandleKind::invalid, type, 0);
}
// Whether it is the null handle of some type, or not a handle of the ABI at all.
[[nodiscard]] constexpr bool is_null(Handle handle) {
  return handle_kind(handle) == HandleKind::invalid;
}
// Whether the ABI fixes the handle, so that it names an object in every process.
[[nodiscard]] constexpr bool is_builtin(Handle handle) {
  return handle_kind(handle) == HandleKind::builtin;
}
// Whether `handle` could name an object of `type`; that object need not exist.
[[nodiscard]] constexpr bool is_of(Handle handle, ObjectType type) {
  return object_type(handle) == type && !is_null(handle);
}

// --- Datatypes ---

// Whether the handle has the form of a basic datatype, which contains size and index. The index may be unused.
[[nodiscard]] constexpr bool is_basic_datatype(MPI_Datatype type) {
  return is_builtin(type) && object_type(type) == ObjectType::datatype;
}
// The bytes of a basic datatype, from the handle alone (0 for MPI_LB and MPI_UB). Requires: is_basic_datatype(type).
[[nodiscard]] constexpr std::uint32_t basic_size_bytes(MPI_Datatype type) {
  return (handle_bits(type) >> 8) & 0xffU;
}
// The index of a basic datatype. It is below kBasicTypeSlots, and each basic datatype has a different index.
[[nodiscard]] constexpr std::uint32_t basic_index(MPI_Datatype type) {
  return handle_bits(type) & 0xffU;
}
// The length of a table that is indexed by basic_index().
inline constexpr std::uint32_t kBasicTypeSlots = 0x80;
// Whether it is MPI_FLOAT_INT or another pair type with padding. MPI_2INT is a basic datatype.
[[nodiscard]] constexpr bool is_pair_datatype(MPI_Datatype type) {
  return handle_kind(type) == HandleKind::direct && object_type(type) == ObjectType::datatype &&
         handle_index(type) < kPairTypeCount;
}

// --- Operations, keyvals ---

// Operations of the ABI that a program cannot free.
inline constexpr std::uint32_t kPredefinedOpCount = 14;
// The index of a predefined operation: 1 for MPI_MAX, 14 for MPI_NO_OP. Requires: a builtin operation.
[[nodiscard]] constexpr std::uint32_t op_index(MPI_Op op) {
  return handle_index(op);
}
// Whether it is a predefined operation. False for MPI_OP_NULL and for the program's operations.
[[nodiscard]] constexpr bool is_predefined_op(MPI_Op op) {
  return is_builtin(op) && object_type(op) == ObjectType::op && op_index(op) >= 1 && op_index(op) <= kPredefinedOpCount;
}

// The kind of object that a keyval is for: communicator, datatype or window. Requires: object_type(keyval) is keyval.
[[nodiscard]] constexpr ObjectType keyval_owner(int keyval) {
  return static_cast<ObjectType>((handle_bits(keyval) >> kKeyvalOwnerShift) & kHandleTypeMask);
}
// C's handle of a predefined key, from either of the key's two handles: C's handle is odd, and Fortran's is greater by
// one. Requires: builtin.
[[nodiscard]] constexpr int predefined_keyval(int keyval) {
  return (keyval - 1) | 1;
}
// The index of a keyval in its table (object/attribute).
[[nodiscard]] constexpr std::uint32_t keyval_index(int keyval) {
  return handle_bits(keyval) & kKeyvalIndexMask;
}
// Makes the handle of a keyval. Requires: index <= kKeyvalIndexMask.
[[nodiscard]] constexpr int make_keyval(ObjectType owner, std::uint32_t index) {
  return make_direct(ObjectType::keyval,
                     (static_cast<std::uint32_t>(owner) << kKeyvalOwnerShift) | (index & kKeyvalIndexMask));
}

// The facts on which the arithmetic relies. Programs have the values of mpi.h compiled in, so neither side may change.
static_assert(make_handle(HandleKind::builtin, ObjectType::communicator, 0) == MPI_COMM_WORLD);
static_assert(make_handle(HandleKind::builtin, ObjectType::communicator, 1) == MPI_COMM_SELF);
static_assert(make_handle(HandleKind::builtin, ObjectType::group, 0) == MPI_GROUP_EMPTY);
static_assert(make_handle(HandleKind::builtin, ObjectType::error_handler, 1) == MPI_ERRORS_RETURN);
static_assert(make_handle(HandleKind::builtin, ObjectType::info, 1) == MPI_INFO_ENV);
static_assert(make_handle(HandleKind::builtin, ObjectType::request, 0) == MPI_MESSAGE_NO_PROC);
static_assert(null_handle(ObjectType::communicator) == MPI_COMM_NULL &&
              null_handle(ObjectType::group) == MPI_GROUP_NULL);
static_assert(null_handle(ObjectType::datatype) == MPI_DATATYPE_NULL && null_handle(ObjectType::op) == MPI_OP_NULL);
static_assert(null_handle(ObjectType::request) == MPI_REQUEST_NULL && MPI_MESSAGE_NULL == MPI_REQUEST_NULL);
static_assert(null_handle(ObjectType::error_handler) == MPI_ERRHANDLER_NULL);
static_assert(null_handle(ObjectType::info) == MPI_INFO_NULL && null_handle(ObjectType::window) == MPI_WIN_NULL);
static_assert(null_handle(ObjectType::keyval) == MPI_KEYVAL_INVALID);
static_assert(null_handle(ObjectType::session) == MPI_SESSION_NULL);
// The pair types with padding are direct handles, unlike all other predefined types.
static_assert(make_direct(ObjectType::datatype, kPairTypeCount - 1) == MPI_LONG_DOUBLE_INT);
static_assert(basic_size_bytes(MPI_INT) == sizeof(int) && basic_size_bytes(MPI_LONG_DOUBLE) == sizeof(long double));
static_assert(is_predefined_op(MPI_MAX) && is_predefined_op(MPI_NO_OP) && !is_predefined_op(MPI_OP_NULL));
// Fortran's handle of a key leads to C's.
static_assert(predefined_keyval(MPI_TAG_UB) == MPI_TAG_UB && predefined_keyval(MPI_TAG_UB + 1) == MPI_TAG_UB);
static_assert(keyval_owner(MPI_TAG_UB) == ObjectType::communicator && keyval_index(MPI_TAG_UB) == 1);
static_assert(keyval_owner(MPI_WIN_BASE) == ObjectType::window && object_type(MPI_WIN_BASE) == ObjectType::keyval);

}  // namespace margay::mpi_adi
