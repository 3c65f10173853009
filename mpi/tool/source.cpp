// Event sources (MPI 4.0, section 15.3.8): the process's clock, the host's, which MPI_Wtime and traces use too.
#include <limits>

#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"
#include "mpi_adi/rank/mpi_process.hpp"

using namespace margay::mpi;

namespace {

constexpr int kSources = 1;
constexpr MPI_Count kTicksPerSecond = 1'000'000'000;

}  // namespace

extern "C" int PMPI_T_source_get_num(int* num_sources) {
  ToolCall call;
  if (!call.check(num_sources != nullptr)) return call.error();
  *num_sources = kSources;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_source_get_num)

extern "C" int PMPI_T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                                      MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                                      MPI_Info* info) {
  ToolCall call;
  if (!call.check_index(source_index, kSources)) return call.error();
  give_text("clock", name, name_len);
  give_text("nanoseconds of the host's monotonic clock, the same for all ranks of a host", desc, desc_len);
  give(ordering, MPI_T_SOURCE_ORDERED);
  give(ticks_per_second, kTicksPerSecond);
  give(max_ticks, std::numeric_limits<MPI_Count>::max());
  give(info, MPI_INFO_NULL);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_source_get_info)

extern "C" int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  ToolCall call;
  if (!call.check_index(source_index, kSources) || !call.check(timestamp != nullptr)) return call.error();
  *timestamp = static_cast<MPI_Count>(current_process().now_ns());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_source_get_timestamp)
