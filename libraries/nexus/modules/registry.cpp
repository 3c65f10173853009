#include "libraries/nexus/modules/registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "libraries/nexus/modules/arguments.hpp"
#include "libraries/nexus/modules/choices.hpp"
#include "libraries/nexus/modules/compressed.hpp"
#include "libraries/nexus/modules/loader.hpp"
#include "libraries/nexus/modules/multicast.hpp"
#include "libraries/nexus/modules/resources.hpp"
#include "libraries/nexus/modules/secure.hpp"
#include "libraries/nexus/modules/udp.hpp"

namespace margay::nexus::core {
namespace {

template <typename Made>
std::unique_ptr<Module> make_module() {
  return std::make_unique<Made>();
}

struct CompiledModule {
  std::string_view name;
  std::unique_ptr<Module> (*make)();
};

// The set of compiled-in modules, in the default order.
constexpr std::array<CompiledModule, 4> kCompiledModules = {{{"udp", make_module<UdpModule>},
                                                             {"multicast", make_module<MulticastModule>},
                                                             {"secure", make_module<SecureModule>},
                                                             {"compressed", make_module<CompressedModule>}}};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

const char* read_variable(const char* name) {
  return std::getenv(name);
}

// The words that later rows of Choice have in place of earlier ones.
void complete_choice(const Choices& choices, Choice& out) {
  for (const LoadChoice& one : choices.loads) out.load.push_back(one.path);
  for (const ParameterChoice& one : choices.parameters) {
    out.parameters[one.module].push_back({one.name, one.value});
    out.parameter_sources[one.module] = one.name + " (" + one.where + ")";
  }
  for (const PollChoice& one : choices.polls) out.skip_poll[one.module] = one.each;
  if (choices.off_node) out.off_node = *choices.off_node;
  for (const ForwarderChoice& one : choices.forwarders) {
    out.forwarding.push_back({one.module, one.context, one.for_contexts});
  }
}

// A forwarder outside of the job would take messages that never arrive.
std::string check_forwarders(const Choices& choices, std::uint32_t contexts) {
  for (const ForwarderChoice& one : choices.forwarders) {
    const bool valid = one.context < contexts && std::all_of(one.for_contexts.begin(), one.for_contexts.end(),
                                                             [&](std::uint32_t other) { return other < contexts; });
    if (valid) continue;
    return "the forwarder " + std::to_string(one.context) + " of " + one.module +
           ", or one of its contexts, is outside of the job; use 0 to " + std::to_string(contexts - 1);
  }
  return {};
}

}  // namespace

std::vector<std::string> compiled_modules() {
  std::vector<std::string> names;
  names.reserve(std::size(kCompiledModules));
  for (const CompiledModule& one : kCompiledModules) names.emplace_back(one.name);
  return names;
}

std::unique_ptr<Module> make_compiled(std::string_view name) {
  for (const CompiledModule& one : kCompiledModules) {
    if (one.name == name) return one.make();
  }
  return nullptr;
}

portals::Status load_module(const std::string& path, std::unique_ptr<Module>& out) {
  return load_shared_object(path, out);
}

portals::Status read_choice(const host::Rank& rank, std::vector<std::string>& words, Choice& out) {
  Choices variables;
  Choices arguments;
  std::string resources;
  std::vector<std::string> others = words;
  std::string error = take_variables(read_variable, variables, resources);
  if (error.empty()) error = take_arguments(others, arguments, resources);
  Choices choices;
  if (error.empty() && !resources.empty()) error = read_resources(resources, rank.rank(), host_name(), choices);
  add_choices(choices, variables);
  add_choices(choices, arguments);
  std::vector<std::string> order;
  if (error.empty()) error = chosen_modules(choices, out.order, order);
  if (error.empty()) error = check_forwarders(choices, rank.size());
  if (!error.empty()) return portals::Status::error(error);
  words = std::move(others);
  out.order = std::move(order);
  complete_choice(choices, out);
  return {};
}

}  // namespace margay::nexus::core
