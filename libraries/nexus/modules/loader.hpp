// Modules in shared objects outside of the library: dlopen(), and the check of the table before any of its functions is
// called. The table may be any memory, so its addresses are compared with the process's mappings.
#pragma once

#include <memory>
#include <string>

#include "libraries/nexus/module/module.hpp"

namespace margay::nexus::core {

// Loads the module in the file `path`, which has a '/', so that the system's folders are not searched. Fails with a
// message that names the path, what is wrong, and the cure. A shared object that crashes while it is loaded ends the
// process with a message (guard.hpp).
[[nodiscard]] portals::Status load_shared_object(const std::string& path, std::unique_ptr<Module>& out);

}  // namespace margay::nexus::core
