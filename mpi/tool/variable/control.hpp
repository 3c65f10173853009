// Control variables: values that an option, a bound or (for writable ones) the program determines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mpi/tool/variable/category.hpp"
#include "mpi/tool/variable/value.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/boot/options.hpp"

namespace margay::mpi {

// The source of the readers' values. While neither the world model nor a session refers to the job there is no rank;
// the options then determine the values that would apply.
struct Settings {
  sim::Options options;
  DeviceOptions device;
  // If not null, its process lock is held.
  MpiRank* rank = nullptr;
};
// The settings of the running rank, or (null) of the environment. Options that MPI_Init would reject read as if they
// were not set.
[[nodiscard]] Settings settings_of(MpiRank* rank);

// Bytes of a string in the program's buffer, with its zero; a longer string is truncated. MPI_T_cvar_handle_alloc
// returns this as the count.
inline constexpr int kTextBytes = 256;

// A row of the table: a variable with its functions. Constant.
struct ControlVariable {
  // Identifies the variable for tools; docs/tool_interface.md describes each.
  const char* name;
  const char* description;
  Category category;
  int verbosity;  // MPI_T_VERBOSITY_
  // MPI_T_SCOPE_; a write affects this process only, whatever the scope.
  int scope;
  ValueType type;
  // The named values of an integer; else null.
  const Enumeration* items;
  // Reads the value; null for a string.
  Word (*read)(const Settings&);
  // Reads the value of a string; null for other types.
  std::string (*read_text)(const Settings&);
  // Whether the value may be written now: MPI_SUCCESS or an MPI_T_ERR_ class. Null: the variable is never written.
  int (*check)(const Settings&, Word value);
  // Sets the value, which was checked. Called under the process lock.
  void (*write)(MpiRank& rank, Word value);
  // The same for strings. write_text() fails with an MPI_T_ERR_ class if this rank cannot have the value.
  int (*check_text)(const Settings&, const std::string& value) = nullptr;
  int (*write_text)(MpiRank& rank, const std::string& value) = nullptr;
  [[nodiscard]] bool writable() const { return check != nullptr || check_text != nullptr; }
};

// All control variables. An index is valid for the process's lifetime.
[[nodiscard]] std::span<const ControlVariable> control_variables();

}  // namespace margay::mpi
