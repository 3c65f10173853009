// The calls of a traced run: mpi_enter and mpi_leave events, and the file's table of names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

class CallTrace {
 public:
  // `name` lives as long as the program. Requires: recorder.on().
  void enter(sim::Recorder& recorder, std::string_view name);
  void leave(sim::Recorder& recorder, std::string_view name, int error_class);
  // The call that was entered last: what a wait belongs to.
  [[nodiscard]] std::uint32_t current() const { return current_; }

 private:
  [[nodiscard]] std::uint32_t index_of(sim::Recorder& recorder, std::string_view name);

  std::uint32_t current_ = 0;
  std::vector<std::string_view> names_;  // in the order of their first call; a program uses a few dozen
};

}  // namespace margay::mpi_adi
