// The built-in methods local, shm and tcp: ways of the host, as modules.
#pragma once

#include <memory>
#include <string_view>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/traffic.hpp"

namespace margay::nexus::core {

// The names of the built-in methods, fastest first.
inline constexpr std::string_view kHostMethods[] = {"local", "shm", "tcp"};
// A built-in method by name; nullptr: another name. `traffic` outlives it.
[[nodiscard]] std::unique_ptr<Module> make_host_method(std::string_view name, Traffic& traffic);
// The host's way behind an object of a built-in method.
[[nodiscard]] host::Way way_of(const Object& object);

}  // namespace margay::nexus::core
