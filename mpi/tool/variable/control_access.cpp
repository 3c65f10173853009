// Reading and writing control variables through handles.
#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/tool/variable/control.hpp"
#include "mpi/tool/variable/tool.hpp"

namespace margay::mpi {

namespace {

// Fills the whole buffer, so that no old bytes stay behind the zero.
void store_text(const std::string& text, void* out) {
  auto* const bytes = static_cast<char*>(out);
  std::memset(bytes, 0, kTextBytes);
  std::memcpy(bytes, text.data(), std::min<std::size_t>(text.size(), kTextBytes - 1));
}

// Writes a string, which ends with a zero or fills the buffer of kTextBytes.
int write_text(Tool& tool, std::size_t index, const void* in) {
  const ControlVariable& variable = control_variables()[index];
  const auto* const bytes = static_cast<const char*>(in);
  const std::string value(bytes, ::strnlen(bytes, kTextBytes));
  const RankVisit visit(tool.rank);
  if (const int error = variable.check_text(settings_of(tool.rank), value); error != MPI_SUCCESS) return error;
  if (tool.rank != nullptr) return variable.write_text(*tool.rank, value);
  tool.wanted_texts[index] = value;
  return MPI_SUCCESS;
}

}  // namespace

int allocate_control(Tool& tool, int index, ToolHandle& handle, int& count) {
  const auto at = static_cast<std::size_t>(index);
  // Numbers are never reused, so a freed handle stays invalid.
  handle = ++tool.last_handle;
  tool.control_handles[handle] = at;
  count = control_variables()[at].type == ValueType::text ? kTextBytes : 1;
  return MPI_SUCCESS;
}

int read_control(Tool& tool, ToolHandle handle, void* out) {
  const auto found = tool.control_handles.find(handle);
  if (found == tool.control_handles.end()) return MPI_T_ERR_INVALID_HANDLE;
  const ControlVariable& variable = control_variables()[found->second];
  // A value that was written before MPI_Init reads as written.
  if (const auto text = tool.wanted_texts.find(found->second); text != tool.wanted_texts.end()) {
    store_text(text->second, out);
    return MPI_SUCCESS;
  }
  const auto wanted = tool.wanted.find(found->second);
  if (wanted != tool.wanted.end()) {
    store_word(variable.type, wanted->second, out);
    return MPI_SUCCESS;
  }
  const RankVisit visit(tool.rank);
  const Settings settings = settings_of(tool.rank);
  if (variable.type == ValueType::text) {
    store_text(variable.read_text(settings), out);
  } else {
    store_word(variable.type, variable.read(settings), out);
  }
  return MPI_SUCCESS;
}

// Before MPI_Init the value is kept, and set when the rank begins.
int write_control(Tool& tool, ToolHandle handle, const void* in) {
  const auto found = tool.control_handles.find(handle);
  if (found == tool.control_handles.end()) return MPI_T_ERR_INVALID_HANDLE;
  const ControlVariable& variable = control_variables()[found->second];
  if (!variable.writable()) return MPI_T_ERR_CVAR_SET_NEVER;
  if (variable.type == ValueType::text) return write_text(tool, found->second, in);
  const Word value = load_word(variable.type, in);
  const RankVisit visit(tool.rank);
  // Checked and written under one lock, so the settings stay the same in between.
  if (const int error = variable.check(settings_of(tool.rank), value); error != MPI_SUCCESS) return error;
  if (tool.rank != nullptr) {
    variable.write(*tool.rank, value);
  } else {
    tool.wanted[found->second] = value;
  }
  return MPI_SUCCESS;
}

}  // namespace margay::mpi
