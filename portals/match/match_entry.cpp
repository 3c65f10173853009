#include "portals/match/match_entry.hpp"

#include "portals/memory/options.hpp"

namespace margay::portals {

void MatchEntry::set(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links) {
  MARGAY_ASSERT(!listed() && refusal(memory.type(), options) == nullptr);
  criteria_ = criteria;
  links_ = links;
  memory_ = &memory;
  options_ = options;
}

void MatchEntry::overlay(const MatchEntry& other, const Options& options) {
  MARGAY_ASSERT(!listed() && refusal(other.memory_->type(), options) == nullptr);
  memory_ = other.memory_;
  options_ = options;
}

}  // namespace margay::portals
