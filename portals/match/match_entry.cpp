#include "portals/match/match_entry.hpp"

namespace margay::portals {

void MatchEntry::set(const Criteria& criteria, Descriptor& memory, const Options& options, const Links& links) {
  MARGAY_ASSERT(!listed());
  criteria_ = criteria;
  links_ = links;
  memory_ = &memory;
  options_ = options;
}

}  // namespace margay::portals
