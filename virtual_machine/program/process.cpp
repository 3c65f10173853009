#include "virtual_machine/program/process.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ios>
#include <istream>
#include <ostream>
#include <string>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/output.hpp"
#include "virtual_machine/program/standard_streams.hpp"

namespace margay::virtual_machine {
namespace {

struct Process {
  std::vector<Module> modules;
  ImageLayout layout;
};

constinit Process* process = nullptr;

template <typename Variable>
[[nodiscard]] MemoryRange range_of(Variable& variable) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers too
  return {reinterpret_cast<std::byte*>(&variable), sizeof(Variable)};
}

void add_data_of(const Module& module) {
  for (const MemoryRange& range : module.data()) require_no_error(process->layout.add(range));
}

// If the program refers to one of these variables, its data may contain the only copy (COPY relocation).
void add_if_apart(MemoryRange range) {
  if (range.begin != nullptr && !process->layout.contains(range.begin)) require_no_error(process->layout.add(range));
}

void add_variables_of_libc() {
  add_if_apart(range_of(stdin));
  add_if_apart(range_of(stdout));
  add_if_apart(range_of(stderr));
  add_if_apart(range_of(environ));
  add_if_apart(range_of(optarg));
  add_if_apart(range_of(optind));
  add_if_apart(range_of(opterr));
  add_if_apart(range_of(optopt));
  add_if_apart(input_state());
}

// The exceptions that a rank is handling or throwing, and the formats of its streams. The streams are looked up,
// because their header would construct them before stdout is replaced.
void add_variables_of_cxx() {
  struct ExceptionGlobals {  // the C++ ABI for Itanium, 2.2.2
    void* caught;
    unsigned int uncaught_count;
  };
  add_if_apart(range_of(*reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals())));
  const auto stream = [](const char* symbol) { return static_cast<std::byte*>(::dlsym(RTLD_DEFAULT, symbol)); };
  add_if_apart({stream("_ZSt3cin"), sizeof(std::istream)});
  for (const char* const symbol : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
    add_if_apart({stream(symbol), sizeof(std::ostream)});
  }
}

}  // namespace

void prepare_libraries() {
  replace_standard_streams();
  process = new Process;  // lives until the process ends, with the ranks' data
  process->modules = find_modules();
  for (Module& module : process->modules) {
    module.disarm();
    if (!module.path().empty()) add_data_of(module);
  }
}

// libstdc++ constructs cout with the first Init object of the process, and never again. So one is constructed before
// the data is saved as pristine.
void prepare_program() {
  static const std::ios_base::Init streams;
  for (const Module& module : process->modules) {
    if (module.path().empty()) add_data_of(module);
  }
  add_variables_of_libc();
  add_variables_of_cxx();
}

bool is_prepared() {
  return process != nullptr;
}

std::span<const Module> modules() {
  return process->modules;
}

bool is_in_module(const void* address) {
  return std::any_of(process->modules.begin(), process->modules.end(),
                     [&](const Module& module) { return module.contains(address); });
}

ImageLayout& image_layout() {
  return process->layout;
}

void require_no_error(const std::string& error) {
  if (error.empty()) return;
  if (has_hooks()) hooks().fail(error, EXIT_FAILURE);
  write_all_to_process(STDERR_FILENO, "margay: " + error + "\n");
  ::_exit(EXIT_FAILURE);
}

}  // namespace margay::virtual_machine
