// Descriptions of a kernel's decisions as text.
#pragma once

#include <map>
#include <string>

#include "portals/match/match_entry.hpp"
#include "sim/kernel/decision_log.hpp"

namespace margay::sim {

// The program's names for its match entries and portals. Names are for people only; matching never reads them.
class Names {
 public:
  // Sets a name, over an earlier one.
  void set(const portals::MatchEntry& entry, std::string name) {
    entry.set_named();
    entries_[&entry] = std::move(name);
  }
  void set(portals::PortalIndex portal, std::string name) { portals_[portal] = std::move(name); }
  // The name of a living entry; nullptr: it has none.
  [[nodiscard]] const std::string* name_of(const portals::MatchEntry& entry) const;
  // "entry" with its name in quotes; "an entry" without one.
  [[nodiscard]] std::string entry(const portals::MatchEntry* entry) const;
  // "portal 5", with its name in parentheses.
  [[nodiscard]] std::string portal(portals::PortalIndex portal) const;

 private:
  // By address, also of entries that no longer exist: see MatchEntry::set_named().
  std::map<const portals::MatchEntry*, std::string> entries_;
  std::map<portals::PortalIndex, std::string> portals_;
};

// The decision as lines: the message; each stop of the walk with the reason why it continued or ended there; the
// verdict. Without addresses, numbers of messages or wires, so that the same program gets the same text each time.
[[nodiscard]] std::string explain(const Decision& decision, const Names& names);

}  // namespace margay::sim
