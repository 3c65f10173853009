// The modules beside local, shm and tcp: compiled-in ones by name, foreign ones by path; and which of them a context
// has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nexus/module/choice.hpp"
#include "libraries/nexus/module/module.hpp"

namespace margay::nexus::core {

// The names of the compiled-in modules, in the default order.
[[nodiscard]] std::vector<std::string> compiled_modules();
// A compiled-in module; nullptr for an unknown name.
[[nodiscard]] std::unique_ptr<Module> make_compiled(std::string_view name);
// Loads a shared object. Fails with the reason and the cure.
[[nodiscard]] portals::Status load_module(const std::string& path, std::unique_ptr<Module>& out);
// Completes the default choice by the resource file (MARGAY_NEXUS_RESOURCES), the environment and the command line,
// from which it removes the words that it has used. Fails for an unreadable file or invalid words, naming the line.
[[nodiscard]] portals::Status read_choice(const host::Rank& rank, std::vector<std::string>& words, Choice& out);

}  // namespace margay::nexus::core
