#include "portals/match/match_entry.hpp"

#include "portals/memory/descriptor.hpp"

namespace margay::portals {

namespace {

// Setters return no Status, so a wrong combination of options ends the process with the cure.
void require_options(const Descriptor& memory, const Options& options) {
  if (const char* const refused = refusal(memory.type(), options); refused != nullptr) misused(refused);
}

}  // namespace

void MatchEntry::set(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links) {
  require_free();
  // Checked here, so that the walk and the deposit never test a combination of options.
  require_options(memory, options);
  criteria_ = criteria;
  links_ = links;
  memory_ = &memory;
  options_ = options;
}

void MatchEntry::overlay(const MatchEntry& other, const Options& options) {
  require_free();
  require(other.memory_ != nullptr, "a match entry overlays one that has no descriptor; set() the other one first");
  require_options(*other.memory_, options);
  memory_ = other.memory_;
  options_ = options;
}

}  // namespace margay::portals
