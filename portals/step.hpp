// What a walk over a match list tells of each entry that it came to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// One stop of the walk.
struct Step {
  const MatchEntry* entry;  // nullptr: the portal's own descriptor, without a match list
  Passed passed;
  const Descriptor* memory = nullptr;  // that descriptor, and how the portal uses it
  Options options = {};
};

// How much of a walk is told: its first stops, and how far their number is counted.
struct WalkLimits {
  std::size_t steps = ~std::size_t{0};
  std::uint32_t visited = ~std::uint32_t{0};  // at least `steps`
};

}  // namespace margay::portals
