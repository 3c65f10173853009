// The frame of a call of the tool interface: locks its state, and checks that it is initialized. Errors are returned,
// and call no error handler (MPI 4.0, section 15.3.10).
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

// One call, on the binding's stack. Holds the interface's mutex from construction to destruction; the process lock
// comes after it (tool.hpp).
class ToolCall {
 public:
  // Locks the mutex. Sets MPI_T_ERR_NOT_INITIALIZED before the first MPI_T_init_thread and after the last
  // MPI_T_finalize.
  ToolCall() : tool_(tool()), guard_(tool_.mutex) {
    if (tool_.users == 0) error_ = MPI_T_ERR_NOT_INITIALIZED;
  }

  // Sets MPI_T_ERR_INVALID, or `otherwise`, unless `valid`; the first error stays. Returns whether there is no error so
  // far.
  bool check(bool valid, int otherwise = MPI_T_ERR_INVALID) {
    if (error_ == MPI_SUCCESS && !valid) error_ = otherwise;
    return error_ == MPI_SUCCESS;
  }
  // The same for an index below `size`: MPI_T_ERR_INVALID_INDEX.
  bool check_index(int index, std::size_t size) {
    return check(index >= 0 && static_cast<std::size_t>(index) < size, MPI_T_ERR_INVALID_INDEX);
  }
  // The call's result.
  [[nodiscard]] int error() const { return error_; }
  // The interface's state, whose mutex this call holds.
  [[nodiscard]] Tool& state() { return tool_; }

 private:
  Tool& tool_;
  std::lock_guard<std::mutex> guard_;
  int error_ = MPI_SUCCESS;
};

// Conversions between a handle of the program and its number. The number is never used as an address, so a stale or
// invented handle is found by a lookup and cannot crash the tool.
template <typename Opaque>
[[nodiscard]] ToolHandle number_of(Opaque handle) {
  return reinterpret_cast<ToolHandle>(handle);
}
template <typename Opaque>
[[nodiscard]] Opaque opaque(ToolHandle handle) {
  return reinterpret_cast<Opaque>(handle);  // NOLINT(performance-no-int-to-ptr): never followed
}

// The index of the row named `name`; -1: none. A linear search: tools look a name up once.
template <typename Rows>
[[nodiscard]] int index_of(const Rows& rows, std::string_view name) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (name == rows[i].name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace margay::mpi
