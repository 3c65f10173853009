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
  // The same of a place that a running process asks for (sim/base/source_lines): "heat.c:41", or "heat+0x1234" without
  // debug information; "" when it is no question.
  [[nodiscard]] std::string name_of(const std::string& question);

 private:
  struct Module;
  std::map<std::string, std::unique_ptr<Module>> modules_;  // by build id and path
};

// `margay source-lines`: a question in each line of the standard input, its line of source in each of the output, or
// nothing. For ranks, which read no debug information themselves.
[[nodiscard]] int answer_source_questions(CallSites& call_sites);

}  // namespace margay::command
