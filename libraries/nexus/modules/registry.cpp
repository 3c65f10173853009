#include "libraries/nexus/modules/registry.hpp"

namespace margay::nexus::core {

std::vector<std::string> compiled_modules() {
  return {};
}

std::unique_ptr<Module> make_compiled(std::string_view) {
  return nullptr;
}

portals::Status load_module(const std::string& path, std::unique_ptr<Module>&) {
  return portals::Status::error("cannot load the module " + path + ": this build loads none");
}

portals::Status read_choice(const host::Rank&, std::vector<std::string>&, Choice&) {
  return {};
}

}  // namespace margay::nexus::core
