// A kernel's decision in words.
#pragma once

#include <map>
#include <string>

#include "portals/match/match_entry.hpp"
#include "sim/kernel/decision_log.hpp"

namespace margay::sim {

// What a program calls its match entries and portals.
class Names {
 public:
  void set(const portals::MatchEntry& entry, std::string name) {
    entry.set_named();
    entries_[&entry] = std::move(name);
  }
  void set(portals::PortalIndex portal, std::string name) { portals_[portal] = std::move(name); }
  // As it was set; nullptr: it has none. Of an entry that still lives.
  [[nodiscard]] const std::string* name_of(const portals::MatchEntry& entry) const;
  // "entry" and the name in quotes; nothing known: "an entry".
  [[nodiscard]] std::string entry(const portals::MatchEntry* entry) const;
  // "portal 5", and its name in parentheses.
  [[nodiscard]] std::string portal(portals::PortalIndex portal) const;

 private:
  std::map<const portals::MatchEntry*, std::string> entries_;
  std::map<portals::PortalIndex, std::string> portals_;
};

// Lines, each with its end: the message; each stop of the walk and why it went on or ended there; what came of it.
// Holds no address, number of message or wire, so that the same program explains itself the same way each time.
[[nodiscard]] std::string explain(const Decision& decision, const Names& names);

}  // namespace margay::sim
