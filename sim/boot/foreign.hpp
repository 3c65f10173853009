// Recognises launchers that margay cannot talk to, so that N processes do not each believe to be rank 0 of 1.
#pragma once

#include "portals/base/status.hpp"

namespace margay::sim {

// Looks a variable up; null when it is not set. `std::getenv` fits.
using Environment = const char* (*)(const char* name);

// Error, naming the launcher and the way out, when the environment shows a parallel start by one that margay does not
// speak to. Requires: neither `margay run` nor a PMI-1.1 descriptor is in the environment.
[[nodiscard]] portals::Status refuse_foreign_launcher(Environment environment);

}  // namespace margay::sim
