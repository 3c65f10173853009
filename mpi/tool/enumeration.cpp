// Enumerations (MPI 4.0, section 15.3.5).
#include "mpi/tool/variable/enumeration.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/tool/tool_call.hpp"

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
