#include "mpi_adi/rank/module_definitions.hpp"

#include <optional>

#include "sim/base/loaded_module.hpp"

namespace margay::mpi_adi {

void ModuleDefinitions::called_from(sim::Recorder& recorder, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Range& range : told_) {
    if (at >= range.begin && at < range.end) return;
  }
  if (misses_ == kMissesMax) return;
  const std::optional<sim::LoadedModule> module = sim::loaded_module_of(at);
  if (!module) {
    ++misses_;
    return;
  }
  told_.insert(told_.begin(), {module->begin, module->end});
  recorder.define(sim::DefinitionKind::module, module->begin, module->end - module->begin,
                  module->build_id + " " + module->path);
}

}  // namespace margay::mpi_adi
