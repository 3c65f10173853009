// Control variables: what is decided by an option, a bound, or (the writable ones) by the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mpi/tool/variable/category.hpp"
#include "mpi/tool/variable/value.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/boot/options.hpp"

namespace margay::mpi {

// What the readers look at. Before MPI_Init and after MPI_Finalize there is no rank: then the options say what would
// be.
struct Settings {
  sim::Options options;
  DeviceOptions device;
  MpiRank* rank = nullptr;  // its process lock is held
};
// Of the running rank, or (nullptr) of the environment.
[[nodiscard]] Settings settings_of(MpiRank* rank);

// What a text takes in the program's buffer, its zero included; a longer one is cut.
inline constexpr int kTextBytes = 256;

struct ControlVariable {
  const char* name;
  const char* description;
  Category category;
  int verbosity;  // MPI_T_VERBOSITY_
  int scope;      // MPI_T_SCOPE_; what is written concerns this process only
  ValueType type;
  const Enumeration* items;  // of an integer; else nullptr
  Word (*read)(const Settings&);
  std::string (*read_text)(const Settings&);  // of a text, instead
  // Whether it may be written so now: MPI_SUCCESS or an MPI_T_ERR_ class. nullptr: never written.
  int (*check)(const Settings&, Word value);
  void (*write)(MpiRank& rank, Word value);  // under the process lock; the value was checked
  [[nodiscard]] bool writable() const { return check != nullptr; }
};

// An index into it stays the variable's while the process lives.
[[nodiscard]] std::span<const ControlVariable> control_variables();

}  // namespace margay::mpi
