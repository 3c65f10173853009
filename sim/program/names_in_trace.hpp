// Tells the trace what the program calls its entries, when an event is about one: only then is its place in a list
// known.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/kernel/target.hpp"
#include "sim/program/explain.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

class NamesInTrace {
 public:
  // Both outlive it. Names the program's own portal.
  NamesInTrace(const Names& names, Recorder& recorder, portals::PortalIndex control_portal);

  [[nodiscard]] MatchProbe probe() { return {.entry = &NamesInTrace::about, .context = this}; }
  void portal(portals::PortalIndex portal, const std::string& name);

 private:
  static void about(void* self, const portals::MatchEntry& entry, portals::PortalIndex portal);

  const Names& names_;
  Recorder& recorder_;
  std::map<std::uint64_t, std::string> told_;  // by entry_number()
};

}  // namespace margay::sim
