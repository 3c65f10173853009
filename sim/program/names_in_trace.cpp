#include "sim/program/names_in_trace.hpp"

#include <string_view>

#include "portals/match/match_entry.hpp"

namespace margay::sim {

NamesInTrace::NamesInTrace(const Names& names, Recorder& recorder, portals::PortalIndex control_portal)
    : names_(names), recorder_(recorder) {
  recorder_.define(DefinitionKind::portal, control_portal, 1, "sums over all processes");
}

void NamesInTrace::portal(portals::PortalIndex portal, const std::string& name) {
  recorder_.define(DefinitionKind::portal, portal, 0, name);
}

void NamesInTrace::about(void* self, const portals::MatchEntry& entry, portals::PortalIndex portal) {
  auto& names = *static_cast<NamesInTrace*>(self);
  const std::string* const name = names.names_.name_of(entry);
  if (name == nullptr && names.told_.empty()) return;
  // Places in lists are used again: one that had a name may be an entry's now that has none.
  const std::uint64_t number = entry_number(portal, entry.order());
  std::string& told = names.told_[number];
  const std::string_view now = name == nullptr ? std::string_view() : *name;
  if (told == now) return;
  told = now;
  names.recorder_.define(DefinitionKind::entry, number, portal, now);
}

}  // namespace margay::sim
