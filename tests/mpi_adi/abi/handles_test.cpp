#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <set>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/abi/status.hpp"

namespace margay::mpi_adi {

TEST_CASE("a handle is decomposed into its parts") {
  for (const auto kind : {HandleKind::builtin, HandleKind::direct, HandleKind::indirect}) {
    for (const auto type : {ObjectType::communicator, ObjectType::datatype, ObjectType::request, ObjectType::session}) {
      for (const std::uint32_t index : {0U, 1U, 12345U, kMaxHandleIndex}) {
        const Handle handle = make_handle(kind, type, index);
        CHECK(handle_kind(handle) == kind);
        CHECK(object_type(handle) == type);
        CHECK(handle_index(handle) == index);
        CHECK(is_of(handle, type));
        CHECK_FALSE(is_null(handle));
      }
    }
  }
  CHECK_FALSE(is_of(MPI_COMM_NULL, ObjectType::communicator));
  CHECK_FALSE(is_of(MPI_COMM_WORLD, ObjectType::group));
}

TEST_CASE("the handle of a basic datatype contains the size of its C type") {
  CHECK(basic_size_bytes(MPI_CHAR) == 1);
  CHECK(basic_size_bytes(MPI_WCHAR) == sizeof(wchar_t));
  CHECK(basic_size_bytes(MPI_SHORT) == sizeof(short));
  CHECK(basic_size_bytes(MPI_UNSIGNED_LONG_LONG) == sizeof(unsigned long long));
  CHECK(basic_size_bytes(MPI_DOUBLE) == sizeof(double));
  CHECK(basic_size_bytes(MPI_C_BOOL) == sizeof(bool));
  CHECK(basic_size_bytes(MPI_C_LONG_DOUBLE_COMPLEX) == sizeof(std::complex<long double>));
  CHECK(basic_size_bytes(MPI_2INT) == 2 * sizeof(int));
  CHECK(basic_size_bytes(MPI_COUNT) == sizeof(MPI_Count));
  CHECK(basic_size_bytes(MPI_LB) == 0);
  CHECK_FALSE(is_basic_datatype(MPI_DOUBLE_INT));
  CHECK_FALSE(is_basic_datatype(MPI_DATATYPE_NULL));
  CHECK_FALSE(is_basic_datatype(MPI_COMM_WORLD));
  CHECK(is_pair_datatype(MPI_SHORT_INT));
  CHECK_FALSE(is_pair_datatype(MPI_2INT));
  CHECK_FALSE(is_pair_datatype(make_direct(ObjectType::datatype, kPairTypeCount)));
}

TEST_CASE("basic datatypes have distinct indices") {
  const auto types = {MPI_CHAR,  MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE,      MPI_SHORT,    MPI_INT,    MPI_LONG,
                      MPI_FLOAT, MPI_DOUBLE,      MPI_AINT,          MPI_INT32_T,   MPI_UINT64_T, MPI_PACKED, MPI_LB,
                      MPI_UB,    MPI_REAL16,      MPI_COUNT,         MPIX_C_FLOAT16};
  std::set<std::uint32_t> seen;
  for (const MPI_Datatype type : types) {
    CHECK(seen.insert(basic_index(type)).second);
    CHECK(basic_index(type) < kBasicTypeSlots);
  }
}

TEST_CASE("a keyval contains the kind of object that it belongs to") {
  const int keyval = make_keyval(ObjectType::window, 77);
  CHECK(object_type(keyval) == ObjectType::keyval);
  CHECK(handle_kind(keyval) == HandleKind::direct);
  CHECK(keyval_owner(keyval) == ObjectType::window);
  CHECK(keyval_index(keyval) == 77);
  CHECK(keyval_owner(MPI_APPNUM) == ObjectType::communicator);
  CHECK(is_null(MPI_KEYVAL_INVALID));
}

TEST_CASE("a status holds counts of 63 bits beside its cancelled bit") {
  MPI_Status status{};
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{0xffffffff},
                                    std::uint64_t{1} << 40, (std::uint64_t{1} << 63) - 1}) {
    for (const bool cancelled : {false, true}) {
      set_status_cancelled(status, cancelled);
      set_status_bytes(status, bytes);
      CHECK(status_bytes(status) == bytes);
      CHECK(status_cancelled(status) == cancelled);
      set_status_cancelled(status, !cancelled);
      CHECK(status_bytes(status) == bytes);
    }
  }
}

TEST_CASE("filling a status does not change its error, and an ignored status is not written") {
  MPI_Status status{};
  status.MPI_ERROR = 99;
  set_status_cancelled(status, true);
  fill_status(&status, 3, 7, 11);
  CHECK(status.MPI_SOURCE == 3);
  CHECK(status.MPI_TAG == 7);
  CHECK(status.MPI_ERROR == 99);
  CHECK(status_bytes(status) == 11);
  CHECK_FALSE(status_cancelled(status));
  proc_null_status(&status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  empty_status(&status);
  CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
  CHECK(status.MPI_TAG == MPI_ANY_TAG);
  fill_status(MPI_STATUS_IGNORE, 1, 2, 3);
}

}  // namespace margay::mpi_adi
