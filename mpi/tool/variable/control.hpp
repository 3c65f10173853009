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

// The source of the readers' values. Before MPI_Init and after MPI_Finalize there is no rank: then the options say what
// would apply.
struct Settings {
  sim::Options options;
  DeviceOptions device;
  MpiRank* rank = nullptr;  // if not null, its process lock is held
};
// The settings of the running rank, or (null) of the environment.
[[nodiscard]] Settings settings_of(MpiRank* rank);

// Bytes of a string in the program's buffer, with its zero; a longer string is truncated.
inline constexpr int kTextBytes = 256;

// A row of the table: a variable with its functions. Constant.
struct ControlVariable {
  // What tools identify the variable by; docs/tool_interface.md describes each.
  const char* name;
  const char* description;
  Category category;
  int verbosity;  // MPI_T_VERBOSITY_
  int scope;      // MPI_T_SCOPE_; a write affects this process only
  ValueType type;
  const Enumeration* items;  // of an integer, else null
  // Reads the value; null for a string.
  Word (*read)(const Settings&);
  std::string (*read_text)(const Settings&);  // of a string, instead of read
  // Whether the value may be written now: MPI_SUCCESS or an MPI_T_ERR_ class. Null: the variable is never written.
  int (*check)(const Settings&, Word value);
  void (*write)(MpiRank& rank, Word value);  // under the process lock; the value is checked
  [[nodiscard]] bool writable() const { return check != nullptr; }
};

// All control variables. An index is valid for the process's lifetime.
[[nodiscard]] std::span<const ControlVariable> control_variables();

}  // namespace margay::mpi
