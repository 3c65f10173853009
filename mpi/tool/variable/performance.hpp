// Performance variables: figures that the library counts anyway, read in place. Nothing is counted for them on the path
// of a message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/tool/variable/category.hpp"
#include "mpi/tool/variable/value.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

// The source of a reader's value.
struct Reading {
  // Its process lock is locked. Null only for rows without_rank.
  MpiRank* rank = nullptr;
  // The communicator of a bound variable; else null.
  const Communicator* communicator = nullptr;
};

// A reader: writes one word for each element, in the unit of the row's type. `which`: the row's field of this name.
using ReadWords = void (*)(const Reading&, std::uint32_t which, std::span<Word> out);

// A row of the table: a variable with its reader. Constant.
struct PerformanceVariable {
  // Identifies the variable, with var_class; docs/tool_interface.md describes each.
  const char* name;
  const char* description;
  Category category;
  int verbosity;  // MPI_T_VERBOSITY_
  int var_class;  // MPI_T_PVAR_CLASS_
  ValueType type;
  // Called under the process lock, unless without_rank.
  ReadWords read;
  // Selects the figure in a reader that several rows share: a wire, a kind, a reason.
  std::uint32_t which = 0;
  // The named values of a state; else null.
  const Enumeration* items = nullptr;
  // Bound to a communicator; else to no object.
  bool of_communicator = false;
  // One element for each rank of the communicator; else one.
  bool per_member = false;
  // Figures of the operating system for this process, valid at any time.
  bool without_rank = false;

  // Whether the variable only adds up: it then begins at 0 for each handle, and can be started, stopped, reset and
  // written. Others (levels, sizes, watermarks, states) are continuous and read-only.
  [[nodiscard]] constexpr bool adds_up() const {
    return var_class == MPI_T_PVAR_CLASS_COUNTER || var_class == MPI_T_PVAR_CLASS_AGGREGATE ||
           var_class == MPI_T_PVAR_CLASS_TIMER;
  }
  // Elements of a handle. Requires: a communicator, if the variable is bound to one. Constant for a handle, since a
  // communicator does not change its size.
  [[nodiscard]] int elements(const Communicator* communicator) const { return per_member ? communicator->size() : 1; }
};

// All performance variables. An index is valid for the process's lifetime.
[[nodiscard]] const std::vector<PerformanceVariable>& performance_variables();

// The parts of that table, one file each.
[[nodiscard]] std::span<const PerformanceVariable> message_variables();
[[nodiscard]] std::span<const PerformanceVariable> window_variables();
[[nodiscard]] std::span<const PerformanceVariable> queue_variables();
[[nodiscard]] std::span<const PerformanceVariable> kernel_variables();
[[nodiscard]] std::span<const PerformanceVariable> process_variables();

}  // namespace margay::mpi
