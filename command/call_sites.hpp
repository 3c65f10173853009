// Lines of source by the addresses in a trace, out of the programs' debug information (libdw).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sim/trace/definition.hpp"

namespace margay::command {

class CallSites {
 public:
  CallSites();
  ~CallSites();
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // "heat.c:41" of the call that returns to `address` in the running module; "" when the module was built without -g,
  // is no longer there, or is no longer the one that ran.
  [[nodiscard]] std::string line_of(const sim::Definition& module, std::uint64_t address);

 private:
  struct Module;
  std::map<std::string, std::unique_ptr<Module>> modules_;  // by build id and path
};

}  // namespace margay::command
