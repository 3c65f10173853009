// Performance variables: what is counted anyway, read where it stands. Nothing is counted for them on a message's way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/tool/variable/category.hpp"
#include "mpi/tool/variable/value.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

// What a reader looks at.
struct Reading {
  MpiRank* rank = nullptr;                     // its process lock is held; nullptr for a row without_rank only
  const Communicator* communicator = nullptr;  // of a bound variable
};

// Writes one word for each element. `which`: the row's.
using ReadWords = void (*)(const Reading&, std::uint32_t which, std::span<Word> out);

struct PerformanceVariable {
  const char* name;
  const char* description;
  Category category;
  int verbosity;  // MPI_T_VERBOSITY_
  int var_class;  // MPI_T_PVAR_CLASS_
  ValueType type;
  ReadWords read;
  std::uint32_t which = 0;             // for readers of several rows
  const Enumeration* items = nullptr;  // of a state
  bool of_communicator = false;        // bound to a communicator; else to no object
  bool per_member = false;             // one element for each rank of the communicator; else one
  bool without_rank = false;           // the operating system's figures of this process: at any time

  // What only adds up begins at 0 for each handle, can be started, stopped, reset and written. What is as it is
  // (levels, sizes, marks, states) is continuous and read-only.
  [[nodiscard]] constexpr bool adds_up() const {
    return var_class == MPI_T_PVAR_CLASS_COUNTER || var_class == MPI_T_PVAR_CLASS_AGGREGATE ||
           var_class == MPI_T_PVAR_CLASS_TIMER;
  }
  // Elements of a handle. Requires: a communicator where the variable is bound to one.
  [[nodiscard]] int elements(const Communicator* communicator) const { return per_member ? communicator->size() : 1; }
};

// An index into it stays the variable's while the process lives.
[[nodiscard]] const std::vector<PerformanceVariable>& performance_variables();

// Its parts, one file each.
[[nodiscard]] std::span<const PerformanceVariable> message_variables();
[[nodiscard]] std::span<const PerformanceVariable> window_variables();
[[nodiscard]] std::span<const PerformanceVariable> queue_variables();
[[nodiscard]] std::span<const PerformanceVariable> kernel_variables();
[[nodiscard]] std::span<const PerformanceVariable> process_variables();

}  // namespace margay::mpi
