// The names of MPI's error classes, for the numbers that a trace has.
#include "sim/trace/error_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace margay::sim {

namespace {

// By their values in MPICH's ABI; tests/mpi_adi/abi_error_class_test.cpp holds them against the library's own.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 83> kNames{{
    {0, "MPI_SUCCESS"},
    {1, "MPI_ERR_BUFFER"},
    {2, "MPI_ERR_COUNT"},
    {3, "MPI_ERR_TYPE"},
    {4, "MPI_ERR_TAG"},
    {5, "MPI_ERR_COMM"},
    {6, "MPI_ERR_RANK"},
    {7, "MPI_ERR_ROOT"},
    {8, "MPI_ERR_GROUP"},
    {9, "MPI_ERR_OP"},
    {10, "MPI_ERR_TOPOLOGY"},
    {11, "MPI_ERR_DIMS"},
    {12, "MPI_ERR_ARG"},
    {13, "MPI_ERR_UNKNOWN"},
    {14, "MPI_ERR_TRUNCATE"},
    {15, "MPI_ERR_OTHER"},
    {16, "MPI_ERR_INTERN"},
    {17, "MPI_ERR_IN_STATUS"},
    {18, "MPI_ERR_PENDING"},
    {19, "MPI_ERR_REQUEST"},
    {20, "MPI_ERR_ACCESS"},
    {21, "MPI_ERR_AMODE"},
    {22, "MPI_ERR_BAD_FILE"},
    {23, "MPI_ERR_CONVERSION"},
    {24, "MPI_ERR_DUP_DATAREP"},
    {25, "MPI_ERR_FILE_EXISTS"},
    {26, "MPI_ERR_FILE_IN_USE"},
    {27, "MPI_ERR_FILE"},
    {28, "MPI_ERR_INFO"},
    {29, "MPI_ERR_INFO_KEY"},
    {30, "MPI_ERR_INFO_VALUE"},
    {31, "MPI_ERR_INFO_NOKEY"},
    {32, "MPI_ERR_IO"},
    {33, "MPI_ERR_NAME"},
    {34, "MPI_ERR_NO_MEM"},
    {35, "MPI_ERR_NOT_SAME"},
    {36, "MPI_ERR_NO_SPACE"},
    {37, "MPI_ERR_NO_SUCH_FILE"},
    {38, "MPI_ERR_PORT"},
    {39, "MPI_ERR_QUOTA"},
    {40, "MPI_ERR_READ_ONLY"},
    {41, "MPI_ERR_SERVICE"},
    {42, "MPI_ERR_SPAWN"},
    {43, "MPI_ERR_UNSUPPORTED_DATAREP"},
    {44, "MPI_ERR_UNSUPPORTED_OPERATION"},
    {45, "MPI_ERR_WIN"},
    {46, "MPI_ERR_BASE"},
    {47, "MPI_ERR_LOCKTYPE"},
    {48, "MPI_ERR_KEYVAL"},
    {49, "MPI_ERR_RMA_CONFLICT"},
    {50, "MPI_ERR_RMA_SYNC"},
    {51, "MPI_ERR_SIZE"},
    {52, "MPI_ERR_DISP"},
    {53, "MPI_ERR_ASSERT"},
    {55, "MPI_ERR_RMA_RANGE"},
    {56, "MPI_ERR_RMA_ATTACH"},
    {57, "MPI_ERR_RMA_SHARED"},
    {58, "MPI_ERR_RMA_FLAVOR"},
    {59, "MPI_T_ERR_MEMORY"},
    {60, "MPI_T_ERR_NOT_INITIALIZED"},
    {61, "MPI_T_ERR_CANNOT_INIT"},
    {62, "MPI_T_ERR_INVALID_INDEX"},
    {63, "MPI_T_ERR_INVALID_ITEM"},
    {64, "MPI_T_ERR_INVALID_HANDLE"},
    {65, "MPI_T_ERR_OUT_OF_HANDLES"},
    {66, "MPI_T_ERR_OUT_OF_SESSIONS"},
    {67, "MPI_T_ERR_INVALID_SESSION"},
    {68, "MPI_T_ERR_CVAR_SET_NOT_NOW"},
    {69, "MPI_T_ERR_CVAR_SET_NEVER"},
    {70, "MPI_T_ERR_PVAR_NO_STARTSTOP"},
    {71, "MPI_T_ERR_PVAR_NO_WRITE"},
    {72, "MPI_T_ERR_PVAR_NO_ATOMIC"},
    {73, "MPI_T_ERR_INVALID_NAME"},
    {74, "MPI_T_ERR_INVALID"},
    {75, "MPI_ERR_SESSION"},
    {76, "MPI_ERR_PROC_ABORTED"},
    {77, "MPI_ERR_VALUE_TOO_LARGE"},
    {78, "MPI_T_ERR_NOT_SUPPORTED"},
    {101, "MPIX_ERR_PROC_FAILED"},
    {102, "MPIX_ERR_PROC_FAILED_PENDING"},
    {103, "MPIX_ERR_REVOKED"},
    {104, "MPIX_ERR_EAGAIN"},
    {105, "MPIX_ERR_NOREQ"},
}};

}  // namespace

std::string error_name(std::uint32_t error_class) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& one) { return one.first == error_class; });
  return found == kNames.end() ? fmt::format("class {}", error_class) : std::string(found->second);
}

}  // namespace margay::sim
