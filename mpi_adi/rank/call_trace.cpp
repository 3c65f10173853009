#include "mpi_adi/rank/call_trace.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/loaded_module.hpp"

namespace margay::mpi_adi {

void ModuleDefinitions::called_from(sim::Recorder& recorder, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Range& range : defined_) {
    if (at >= range.begin && at < range.end) return;
  }
  // Without this limit, code that is in no file would cost a search at each call.
  if (misses_ == kMissesMax) return;
  const std::optional<sim::LoadedModule> module = sim::loaded_module_of(at);
  if (!module) {
    ++misses_;
    return;
  }
  defined_.insert(defined_.begin(), {module->begin, module->end});
  recorder.define(sim::DefinitionKind::module, module->begin, module->end - module->begin,
                  module->build_id + " " + module->path);
}

CallTrace::CallTrace() {
  const std::thread::id id = std::this_thread::get_id();
  latest_ = &threads_[id];
  latest_->id = id;
}

void CallTrace::enter(sim::Recorder& recorder, std::string_view name, const void* caller) {
  Thread& thread = calling_thread();
  const std::uint32_t call = index_of(recorder, name);
  thread.calls.push_back(call);
  // Recorded before the event, so that a reader knows the file when it reads the address.
  modules_.called_from(recorder, caller);
  recorder.record({.kind = sim::TraceKind::mpi_enter,
                   .match_bits = reinterpret_cast<std::uintptr_t>(caller),
                   .detail = thread.number,
                   .a = call});
}

void CallTrace::leave(sim::Recorder& recorder, std::string_view name, int error_class, bool fatal) {
  Thread& thread = calling_thread();
  // A trace may begin inside a call, whose end then finds no entry.
  if (!thread.calls.empty()) thread.calls.pop_back();
  recorder.record({.kind = sim::TraceKind::mpi_leave,
                   .reason = static_cast<std::uint8_t>(fatal ? 1 : 0),
                   .detail = thread.number,
                   .a = index_of(recorder, name),
                   .b = static_cast<std::uint32_t>(error_class)});
}

void CallTrace::wait(sim::Recorder& recorder, sim::TraceKind kind) {
  const Thread& thread = calling_thread();
  const std::uint32_t call = thread.calls.empty() ? 0 : thread.calls.back();
  recorder.record({.kind = kind, .detail = thread.number, .a = call});
}

CallTrace::Thread& CallTrace::calling_thread() {
  const std::thread::id id = std::this_thread::get_id();
  // Most calls come from the thread of the previous call, and need no look-up.
  if (latest_->id == id) [[likely]]
    return *latest_;
  const auto [entry, added] = threads_.try_emplace(id);
  latest_ = &entry->second;  // the address stays, because a node-based map never moves its elements
  if (added) {
    latest_->id = id;
    latest_->number = threads_.size() - 1;
  }
  return *latest_;
}

std::uint32_t CallTrace::index_of(sim::Recorder& recorder, std::string_view name) {
  // Names are literals, so equal addresses mean equal names. A linear search suffices for a program's few dozen names.
  const auto found = std::find_if(names_.begin(), names_.end(),
                                  [name](std::string_view known) { return known.data() == name.data(); });
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.push_back(name);
  recorder.set_call_names(names_);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

}  // namespace margay::mpi_adi
