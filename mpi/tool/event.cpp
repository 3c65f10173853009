// Events (MPI 4.0, section 15.3.8). There are no event types, so no index, registration or instance is valid: each
// function returns the error for the argument that cannot exist.

#include <limits>

#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"
#include "mpi_adi/rank/mpi_process.hpp"

using namespace margay::mpi;

namespace {

// The result of a call that names an object that cannot exist.
int none(int error) {
  ToolCall call;
  call.check(false, error);
  return call.error();
}

}  // namespace

extern "C" int PMPI_T_event_get_num(int* num_events) {
  ToolCall call;
  if (!call.check(num_events != nullptr)) return call.error();
  *num_events = 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_event_get_num)

extern "C" int PMPI_T_event_get_info(int /*event_index*/, char* /*name*/, int* /*name_len*/, int* /*verbosity*/,
                                     MPI_Datatype /*array_of_datatypes*/[], MPI_Aint /*array_of_displacements*/[],
                                     int* /*num_elements*/, MPI_T_enum* /*enumtype*/, MPI_Info* /*info*/,
                                     char* /*desc*/, int* /*desc_len*/, int* /*bind*/) {
  return none(MPI_T_ERR_INVALID_INDEX);
}
MARGAY_ALIAS(T_event_get_info)

extern "C" int PMPI_T_event_get_index(const char* name, int* event_index) {
  ToolCall call;
  // The first error stays: a null argument is reported before the name.
  call.check(name != nullptr && event_index != nullptr);
  call.check(false, MPI_T_ERR_INVALID_NAME);
  return call.error();
}
MARGAY_ALIAS(T_event_get_index)

extern "C" int PMPI_T_event_handle_alloc(int /*event_index*/, void* /*obj_handle*/, MPI_Info /*info*/,
                                         MPI_T_event_registration* /*event_registration*/) {
  return none(MPI_T_ERR_INVALID_INDEX);
}
MARGAY_ALIAS(T_event_handle_alloc)

extern "C" int PMPI_T_event_handle_free(MPI_T_event_registration /*event_registration*/, void* /*user_data*/,
                                        MPI_T_event_free_cb_function /*free_cb_function*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_handle_free)

extern "C" int PMPI_T_event_handle_get_info(MPI_T_event_registration /*event_registration*/, MPI_Info* /*info_used*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_handle_get_info)

extern "C" int PMPI_T_event_handle_set_info(MPI_T_event_registration /*event_registration*/, MPI_Info /*info*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_handle_set_info)

extern "C" int PMPI_T_event_register_callback(MPI_T_event_registration /*event_registration*/,
                                              MPI_T_cb_safety /*cb_safety*/, MPI_Info /*info*/, void* /*user_data*/,
                                              MPI_T_event_cb_function /*event_cb_function*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_register_callback)

extern "C" int PMPI_T_event_callback_get_info(MPI_T_event_registration /*event_registration*/,
                                              MPI_T_cb_safety /*cb_safety*/, MPI_Info* /*info_used*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_callback_get_info)

extern "C" int PMPI_T_event_callback_set_info(MPI_T_event_registration /*event_registration*/,
                                              MPI_T_cb_safety /*cb_safety*/, MPI_Info /*info*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_callback_set_info)

extern "C" int PMPI_T_event_set_dropped_handler(MPI_T_event_registration /*event_registration*/,
                                                MPI_T_event_dropped_cb_function /*dropped_cb_function*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_set_dropped_handler)

extern "C" int PMPI_T_event_read(MPI_T_event_instance /*event_instance*/, int /*element_index*/, void* /*buffer*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_read)

extern "C" int PMPI_T_event_copy(MPI_T_event_instance /*event_instance*/, void* /*buffer*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_copy)

extern "C" int PMPI_T_event_get_timestamp(MPI_T_event_instance /*event_instance*/, MPI_Count* /*event_timestamp*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_get_timestamp)

extern "C" int PMPI_T_event_get_source(MPI_T_event_instance /*event_instance*/, int* /*source_index*/) {
  return none(MPI_T_ERR_INVALID_HANDLE);
}
MARGAY_ALIAS(T_event_get_source)

// Event sources (MPI 4.0, section 15.3.8): one, the host's clock, which MPI_Wtime and traces use, too.

using namespace margay::mpi;

namespace {

constexpr int kSources = 1;
// A tick is a nanosecond.
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
  // The clock is monotonic, so events are in the order of their timestamps.
  give(ordering, MPI_T_SOURCE_ORDERED);
  give(ticks_per_second, kTicksPerSecond);
  give(max_ticks, std::numeric_limits<MPI_Count>::max());
  // The clock has no hints.
  give(info, MPI_INFO_NULL);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_source_get_info)

extern "C" int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  ToolCall call;
  if (!call.check_index(source_index, kSources) || !call.check(timestamp != nullptr)) return call.error();
  // Any process has a clock, also before MPI_Init.
  *timestamp = static_cast<MPI_Count>(current_process().now_ns());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_source_get_timestamp)
