// What a walk over a match list tells of each entry that it came to.
#pragma once

#include "portals/memory/descriptor.hpp"
#include "portals/verdict.hpp"

namespace margay::portals {

// One stop of the walk.
struct Step {
  const MatchEntry* entry;  // nullptr: the portal's own descriptor, without a match list
  Passed passed;
  const Descriptor* memory = nullptr;  // that descriptor, and how the portal uses it
  Options options = {};
};

}  // namespace margay::portals
