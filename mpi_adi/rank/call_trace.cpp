#include "mpi_adi/rank/call_trace.hpp"

#include <algorithm>

namespace margay::mpi_adi {

void CallTrace::enter(sim::Recorder& recorder, std::string_view name) {
  current_ = index_of(recorder, name);
  recorder.record({.kind = sim::TraceKind::mpi_enter, .a = current_});
}

void CallTrace::leave(sim::Recorder& recorder, std::string_view name, int error_class) {
  recorder.record(
      {.kind = sim::TraceKind::mpi_leave, .a = index_of(recorder, name), .b = static_cast<std::uint32_t>(error_class)});
}

std::uint32_t CallTrace::index_of(sim::Recorder& recorder, std::string_view name) {
  // The same literal has one address; most programs find it among the first few.
  const auto found = std::find_if(names_.begin(), names_.end(),
                                  [name](std::string_view known) { return known.data() == name.data(); });
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.push_back(name);
  recorder.set_call_names(names_);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

}  // namespace margay::mpi_adi
