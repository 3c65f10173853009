// One call of the tool interface: holds its state, and says whether it may be used. Errors are returned and go to no
// handler (MPI 4.0, section 15.3.10).
//
//   extern "C" int PMPI_T_x(..., int* out) {
//     ToolCall call;
//     if (!call.check(out != nullptr)) return call.error();
//     ...
//   }
#pragma once

#include <mutex>
#include <string_view>

#include "mpi/tool/variable/tool.hpp"

namespace margay::mpi {

class ToolCall {
 public:
  ToolCall() : tool_(tool()), guard_(tool_.mutex) {
    if (tool_.users == 0) error_ = MPI_T_ERR_NOT_INITIALIZED;
  }

  // Notes MPI_T_ERR_INVALID, or `otherwise`, unless an argument is as it must be; the first error stays.
  bool check(bool valid, int otherwise = MPI_T_ERR_INVALID) {
    if (error_ == MPI_SUCCESS && !valid) error_ = otherwise;
    return error_ == MPI_SUCCESS;
  }
  bool check_index(int index, std::size_t size) {
    return check(index >= 0 && static_cast<std::size_t>(index) < size, MPI_T_ERR_INVALID_INDEX);
  }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] Tool& state() { return tool_; }

 private:
  Tool& tool_;
  std::lock_guard<std::mutex> guard_;
  int error_ = MPI_SUCCESS;
};

// A handle of the program's as the number that it is, and back.
template <typename Opaque>
[[nodiscard]] ToolHandle number_of(Opaque handle) {
  return reinterpret_cast<ToolHandle>(handle);
}
template <typename Opaque>
[[nodiscard]] Opaque opaque(ToolHandle handle) {
  return reinterpret_cast<Opaque>(handle);  // NOLINT(performance-no-int-to-ptr): never followed
}

// The index of the row called `name`; -1: none.
template <typename Rows>
[[nodiscard]] int index_of(const Rows& rows, std::string_view name) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (name == rows[i].name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace margay::mpi
