// Tests of the findings of error classes.
#include "mpi/call/fatal_error.hpp"

#include <doctest/doctest.h>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi {

TEST_CASE("an invalid argument of each class of MPI 4.0, section 9.4, is a bad-argument") {
  for (const int error_class :
       {MPI_ERR_BUFFER,     MPI_ERR_COUNT,    MPI_ERR_TYPE,        MPI_ERR_TAG,
        MPI_ERR_COMM,       MPI_ERR_RANK,     MPI_ERR_REQUEST,     MPI_ERR_ROOT,
        MPI_ERR_GROUP,      MPI_ERR_OP,       MPI_ERR_TOPOLOGY,    MPI_ERR_DIMS,
        MPI_ERR_ARG,        MPI_ERR_KEYVAL,   MPI_ERR_BASE,        MPI_ERR_INFO_KEY,
        MPI_ERR_INFO_VALUE, MPI_ERR_INFO,     MPI_ERR_INFO_NOKEY,  MPI_ERR_PORT,
        MPI_ERR_SERVICE,    MPI_ERR_NAME,     MPI_ERR_WIN,         MPI_ERR_SIZE,
        MPI_ERR_DISP,       MPI_ERR_LOCKTYPE, MPI_ERR_ASSERT,      MPI_ERR_RMA_RANGE,
        MPI_ERR_RMA_FLAVOR, MPI_ERR_SESSION,  MPI_ERR_FILE,        MPI_ERR_NOT_SAME,
        MPI_ERR_AMODE,      MPI_ERR_BAD_FILE, MPI_ERR_DUP_DATAREP, MPI_ERR_UNSUPPORTED_DATAREP}) {
    CAPTURE(error_class);
    CHECK(finding_of_error(error_class) == sim::Finding::bad_argument);
  }
}

TEST_CASE("error classes that do not concern one argument have other findings") {
  for (const int error_class : {MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_UNKNOWN, MPI_ERR_RMA_SYNC, MPI_ERR_RMA_ATTACH,
                                MPI_ERR_RMA_SHARED, MPI_ERR_SPAWN, MPI_ERR_IO}) {
    CAPTURE(error_class);
    CHECK(finding_of_error(error_class) == sim::Finding::mpi_error);
  }
  CHECK(finding_of_error(MPI_ERR_TRUNCATE) == sim::Finding::truncation);
  CHECK(finding_of_error(MPI_ERR_NO_MEM) == sim::Finding::out_of_memory);
  CHECK(finding_of_error(MPI_ERR_UNSUPPORTED_OPERATION) == sim::Finding::unimplemented_function);
}

}  // namespace margay::mpi
