// Performance variables (MPI 4.0, section 15.3.7): which there are; handles are in session.cpp.
#include "mpi/tool/variable/performance.hpp"

#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"

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
  give(continuous, variable.adds_up() ? 0 : 1);
  give(atomic, variable.adds_up() ? 1 : 0);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_get_info)

extern "C" int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  ToolCall call;
  if (!call.check(name != nullptr && pvar_index != nullptr)) return call.error();
  const int found = index_of(performance_variables(), name);
  const bool same_class = found >= 0 && performance_variables()[static_cast<std::size_t>(found)].var_class == var_class;
  if (!call.check(same_class, MPI_T_ERR_INVALID_NAME)) return call.error();
  *pvar_index = found;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(T_pvar_get_index)
