// The start of a simulating process: the library's first constructor, and main's replacement. The library is preloaded
// and linked with -z initfirst, so that its constructor runs before that of any other library.

#include <cstdlib>
#include <cstring>

#include "virtual_machine/program/fatal_signals.hpp"
#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/process.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"
#include "virtual_machine/program/sanitizers.hpp"

namespace margay::virtual_machine {
namespace {

// Set by `margay simulate`. Without it the library leaves the process as it is.
constexpr const char* kSwitch = "MARGAY_SIMULATE=";

using Main = int (*)(int, char**, char**);
using Function = void (*)();

constinit Main program_main = nullptr;
constinit const char* options = nullptr;
constinit Real<int(Main, int, char**, Function, Function, Function, void*)> real_start("__libc_start_main");
constinit Real<int(void (*)(int, void*), void*)> real_on_exit("on_exit");

// Before the constructors of this library with default priority, which may use stdout.
[[gnu::constructor(101)]] void prepare(int, char**, char** environment) {
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, kSwitch, std::strlen(kSwitch)) != 0) continue;
    options = *environment + std::strlen(kSwitch);
    refuse_thread_sanitizer();
    prepare_libraries();
    return require_no_error(check_malloc());
  }
}

// libc's own functions (err, error, argp_parse) call libc's exit and not the replaced one. Its loop over the exit
// handlers is left here for good; a later exit continues with the remaining ones.
void exit_within_libc(int status, void*) {
  RankState* const rank = RankState::entered();
  if (rank == nullptr) return;
  real_on_exit(exit_within_libc, nullptr);
  rank->exit(status);
}

int run_in_world(int argc, char** argv, char**) {
  ::unsetenv("MARGAY_SIMULATE");
  prepare_program();
  report_fatal_signals();
  report_sanitizer_errors();
  real_on_exit(exit_within_libc, nullptr);
  return run_world({program_main, argc, argv, options});
}

}  // namespace
}  // namespace margay::virtual_machine

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of libc
// The executable's entry point calls this with main, and with its constructors if it was linked before glibc 2.34; each
// rank runs those.
extern "C" [[gnu::visibility("default")]] int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                                                                void (*init)(), void (*fini)(), void (*dynamic_fini)(),
                                                                void* stack_end) {
  using namespace margay::virtual_machine;
  if (!is_prepared()) return real_start(main, argc, argv, init, fini, dynamic_fini, stack_end);
  program_main = main;
  return real_start(run_in_world, argc, argv, nullptr, nullptr, dynamic_fini, stack_end);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
