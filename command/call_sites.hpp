// A resolver from addresses to lines of source, by the programs' debug information (libdw).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sim/trace/definition.hpp"

namespace margay::command {

// The resolver. Caches each module's debug information, because reading it takes the most time. Not thread-safe,
// because libdw is not. libdw asks a debuginfod server for missing debug information if DEBUGINFOD_URLS is set; `main`
// removes that variable before the first lookup.
class CallSites {
 public:
  CallSites();
  ~CallSites();
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // The line of the call that returns to the run-time address `address`, which is in `module`: "heat.c:41". "": the
  // module was built without -g, no longer exists, or is not the build that ran.
  [[nodiscard]] std::string line_of(const sim::Definition& module, std::uint64_t address);
  // The same for a location that a running process asks about (sim/base/source_lines): "heat.c:41", or "heat+0x1234"
  // without debug information; "": `question` is malformed.
  [[nodiscard]] std::string name_of(const std::string& question);

 private:
  struct Module;
  // By build id and path.
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

// The command `margay source-lines`: reads one question on each line of standard input, and prints its line of source,
// or an empty line. Ranks use it, because they do not read debug information themselves. Returns the exit status.
[[nodiscard]] int answer_source_questions(CallSites& call_sites);

}  // namespace margay::command
