// Pvar sessions, and handles in them (MPI 4.0, section 15.3.7).

#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"
#include "mpi/tool/variable/performance.hpp"

using namespace margay::mpi;

namespace {

// The program passes a handle as a number, which may be invalid, so each is looked up.
PerformanceSession* find_session(ToolCall& call, MPI_T_pvar_session session) {
  const auto found = call.state().sessions.find(number_of(session));
  if (!call.check(found != call.state().sessions.end(), MPI_T_ERR_INVALID_SESSION)) return nullptr;
  return &found->second;
}

PerformanceHandle* find_handle(ToolCall& call, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  PerformanceSession* const owner = find_session(call, session);
  if (owner == nullptr) return nullptr;
  // A handle is valid in its own session only.
  const auto found = owner->handles.find(number_of(handle));
  if (!call.check(found != owner->handles.end(), MPI_T_ERR_INVALID_HANDLE)) return nullptr;
  return &found->second;
}

// Applies `step` to one handle, or to all handles of the pvar session that permit it.
using Step = int (*)(Tool&, PerformanceHandle&);
int step_each(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Step step) {
  ToolCall call;
  if (handle != MPI_T_PVAR_ALL_HANDLES) {
    PerformanceHandle* const one = find_handle(call, session, handle);
    return one == nullptr ? call.error() : step(call.state(), *one);
  }
  PerformanceSession* const all = find_session(call, session);
  if (all == nullptr) return call.error();
  // After an error of one handle, the step is still applied to the others.
  int first_error = MPI_SUCCESS;
  for (auto& [number, one] : all->handles) {
    // With MPI_T_PVAR_ALL_HANDLES, handles that cannot be started or stopped are skipped (MPI 4.0, 15.3.7).
    if (!performance_variables()[one.index].adds_up()) continue;
    const int error = step(call.state(), one);
    if (first_error == MPI_SUCCESS) first_error = error;
  }
  return first_error;
}

}  // namespace

extern "C" int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  ToolCall call;
  if (!call.check(session != nullptr)) return call.error();
  // Numbers are never reused, so a stale handle is detected.
  const ToolHandle made = ++call.state().last_handle;
  call.state().sessions[made];
  *session = opaque<MPI_T_pvar_session>(made);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_session_create)

// Frees the session's handles, too.
extern "C" int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  ToolCall call;
  if (!call.check(session != nullptr)) return call.error();
  if (!call.check(call.state().sessions.erase(number_of(*session)) == 1, MPI_T_ERR_INVALID_SESSION))
    return call.error();
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_session_free)

extern "C" int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                                        MPI_T_pvar_handle* handle, int* count) {
  ToolCall call;
  PerformanceSession* const owner = find_session(call, session);
  if (owner == nullptr || !call.check_index(pvar_index, performance_variables().size())) return call.error();
  if (!call.check(handle != nullptr && count != nullptr)) return call.error();
  ToolHandle made = 0;
  // After an error `made` stays 0: the null handle.
  const int error = allocate_performance(call.state(), *owner, pvar_index, obj_handle, made, *count);
  *handle = opaque<MPI_T_pvar_handle>(made);
  return error;
}
MARGAY_ALIAS(T_pvar_handle_alloc)

extern "C" int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  ToolCall call;
  PerformanceSession* const owner = find_session(call, session);
  if (owner == nullptr || !call.check(handle != nullptr)) return call.error();
  // The sums of the handle end with it; the library's own figures are never changed by tools.
  if (!call.check(owner->handles.erase(number_of(*handle)) == 1, MPI_T_ERR_INVALID_HANDLE)) return call.error();
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_handle_free)

extern "C" int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return step_each(session, handle, &start_performance);
}
MARGAY_ALIAS(T_pvar_start)

extern "C" int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return step_each(session, handle, &stop_performance);
}
MARGAY_ALIAS(T_pvar_stop)

extern "C" int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return step_each(session, handle, &reset_performance);
}
MARGAY_ALIAS(T_pvar_reset)

extern "C" int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  ToolCall call;
  PerformanceHandle* const one = find_handle(call, session, handle);
  if (one == nullptr || !call.check(buf != nullptr)) return call.error();
  return read_performance(call.state(), *one, buf);
}
MARGAY_ALIAS(T_pvar_read)

extern "C" int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  ToolCall call;
  PerformanceHandle* const one = find_handle(call, session, handle);
  if (one == nullptr || !call.check(buf != nullptr)) return call.error();
  return write_performance(call.state(), *one, buf);
}
MARGAY_ALIAS(T_pvar_write)

extern "C" int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  ToolCall call;
  PerformanceHandle* const one = find_handle(call, session, handle);
  if (one == nullptr || !call.check(buf != nullptr)) return call.error();
  return read_and_reset_performance(call.state(), *one, buf);
}
MARGAY_ALIAS(T_pvar_readreset)

// Inquiries of performance variables (MPI 4.0, section 15.3.7).

using namespace margay::mpi;

extern "C" int PMPI_T_pvar_get_num(int* num_pvar) {
  ToolCall call;
  if (!call.check(num_pvar != nullptr)) return call.error();
  *num_pvar = static_cast<int>(performance_variables().size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_get_num)

extern "C" int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                                    int* readonly, int* continuous, int* atomic) {
  ToolCall call;
  if (!call.check_index(pvar_index, performance_variables().size())) return call.error();
  const PerformanceVariable& variable = performance_variables()[static_cast<std::size_t>(pvar_index)];
  give_text(variable.name, name, name_len);
  give(verbosity, variable.verbosity);
  give(var_class, variable.var_class);
  give(datatype, mpi_type(variable.type));
  if (enumtype != nullptr) *enumtype = enumeration_handle(variable.items);
  give_text(variable.description, desc, desc_len);
  give(bind, variable.of_communicator ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
  give(readonly, variable.adds_up() ? 0 : 1);
  // Continuous variables count always, and can neither be started nor stopped.
  give(continuous, variable.adds_up() ? 0 : 1);
  // Whether MPI_T_pvar_readreset is valid.
  give(atomic, variable.adds_up() ? 1 : 0);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_get_info)

extern "C" int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  ToolCall call;
  if (!call.check(name != nullptr && pvar_index != nullptr)) return call.error();
  const int found = index_of(performance_variables(), name);
  // A variable is identified by name and class.
  const bool same_class = found >= 0 && performance_variables()[static_cast<std::size_t>(found)].var_class == var_class;
  if (!call.check(same_class, MPI_T_ERR_INVALID_NAME)) return call.error();
  *pvar_index = found;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_get_index)
