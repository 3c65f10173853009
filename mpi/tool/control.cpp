// Control variables (MPI 4.0, section 15.3.6).

#include "mpi/tool/variable/control.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"
#include "mpi/tool/variable/value.hpp"

using namespace margay::mpi;

extern "C" int PMPI_T_cvar_get_num(int* num_cvar) {
  ToolCall call;
  if (!call.check(num_cvar != nullptr)) return call.error();
  *num_cvar = static_cast<int>(control_variables().size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_cvar_get_num)

extern "C" int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                                    MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  ToolCall call;
  if (!call.check_index(cvar_index, control_variables().size())) return call.error();
  const ControlVariable& variable = control_variables()[static_cast<std::size_t>(cvar_index)];
  give_text(variable.name, name, name_len);
  give(verbosity, variable.verbosity);
  give(datatype, mpi_type(variable.type));
  // All results are optional (MPI 4.0, 15.3.6).
  if (enumtype != nullptr) *enumtype = enumeration_handle(variable.items);
  give_text(variable.description, desc, desc_len);
  give(bind, MPI_T_BIND_NO_OBJECT);
  give(scope, variable.scope);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_cvar_get_info)

extern "C" int PMPI_T_cvar_get_index(const char* name, int* cvar_index) {
  ToolCall call;
  if (!call.check(name != nullptr && cvar_index != nullptr)) return call.error();
  // A linear search: the table is short, and tools look names up once.
  const int found = index_of(control_variables(), name);
  if (!call.check(found >= 0, MPI_T_ERR_INVALID_NAME)) return call.error();
  *cvar_index = found;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_cvar_get_index)

// No control variable is bound to an object.
extern "C" int PMPI_T_cvar_handle_alloc(int cvar_index, void* /*obj_handle*/, MPI_T_cvar_handle* handle, int* count) {
  ToolCall call;
  if (!call.check_index(cvar_index, control_variables().size())) return call.error();
  if (!call.check(handle != nullptr && count != nullptr)) return call.error();
  ToolHandle made = 0;
  const int error = allocate_control(call.state(), cvar_index, made, *count);
  *handle = opaque<MPI_T_cvar_handle>(made);
  return error;
}
MARGAY_ALIAS(T_cvar_handle_alloc)

extern "C" int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  ToolCall call;
  if (!call.check(handle != nullptr)) return call.error();
  if (!call.check(call.state().control_handles.erase(number_of(*handle)) == 1, MPI_T_ERR_INVALID_HANDLE))
    return call.error();
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_cvar_handle_free)

extern "C" int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  ToolCall call;
  if (!call.check(buf != nullptr)) return call.error();
  return read_control(call.state(), number_of(handle), buf);
}
MARGAY_ALIAS(T_cvar_read)

extern "C" int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  ToolCall call;
  if (!call.check(buf != nullptr)) return call.error();
  return write_control(call.state(), number_of(handle), buf);
}
MARGAY_ALIAS(T_cvar_write)

// Enumerations (MPI 4.0, section 15.3.5).

using namespace margay::mpi;

extern "C" int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  ToolCall call;
  const Enumeration* const found = find_enumeration(enumtype);
  if (!call.check(found != nullptr, MPI_T_ERR_INVALID_HANDLE)) return call.error();
  give(num, found->items.size());
  give_text(found->name, name, name_len);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_enum_get_info)

extern "C" int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
  ToolCall call;
  const Enumeration* const found = find_enumeration(enumtype);
  if (!call.check(found != nullptr, MPI_T_ERR_INVALID_HANDLE)) return call.error();
  if (!call.check(indx >= 0 && static_cast<std::size_t>(indx) < found->items.size(), MPI_T_ERR_INVALID_ITEM))
    return call.error();
  const EnumerationItem& item = found->items[static_cast<std::size_t>(indx)];
  give(value, item.value);
  give_text(item.name, name, name_len);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_enum_get_item)
