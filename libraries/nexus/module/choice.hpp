// The modules that a context has and how they are used: the result of defaults, resource file, environment, command
// line and calls before init() (paper 003, section 3.1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libraries/nexus/module/module.hpp"

namespace margay::nexus::core {

// A context receives a method's traffic for others: requests to `contexts` by `method` go to `forwarder`, which passes
// them on.
struct Forwarding {
  std::string method;
  std::uint32_t forwarder = 0;
  std::vector<std::uint32_t> contexts;
};

struct Choice {
  // The methods' names in order of preference. Names that no compiled-in or loaded module has are errors.
  std::vector<std::string> order{"local", "shm", "tcp"};
  // Paths of shared objects to load; their names are then known, and stand in `order` if they are to be used.
  std::vector<std::string> load;
  // Parameters by module.
  std::map<std::string, std::vector<Parameter>> parameters;
  // By module: one of its parameters and the source of the choice, "linger_ms (--nexus-parameter)".
  std::map<std::string, std::string> parameter_sources;
  // Transforms that are put before every method that leaves the node, in this order, such as "secure".
  std::vector<std::string> off_node;
  std::vector<Forwarding> forwarding;
  // Poll intervals: a module is polled at every n-th poll.
  std::map<std::string, std::uint32_t> skip_poll;
};

}  // namespace margay::nexus::core
