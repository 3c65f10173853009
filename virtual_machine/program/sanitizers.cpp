#include "virtual_machine/program/sanitizers.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "virtual_machine/program/output.hpp"
#include "virtual_machine/program/process.hpp"
#include "virtual_machine/program/rank_state.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the sanitizers' interface
extern "C" {

// Null in a process without a sanitizer.
[[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

// Options for AddressSanitizer, which reads them before anything else runs; those of ASAN_OPTIONS take precedence.
// This library comes before the run-time library; each rank registers the program's global variables again, at the same
// addresses; and the search for leaks does not scan the stacks and images of ranks.
[[gnu::visibility("default")]] const char* __asan_default_options() {
  return "verify_asan_link_order=0:detect_odr_violation=1:detect_leaks=0";
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace margay::virtual_machine {

// Its fibers are known to it, but not that the ranks' data changes at equal addresses.
void refuse_thread_sanitizer() {
  if (::dlsym(RTLD_DEFAULT, "__tsan_init") == nullptr) return;
  write_all_to_process(STDERR_FILENO,
                       "margay: a program with ThreadSanitizer cannot be simulated; compile it without "
                       "-fsanitize=thread, or run it with margay run\n");
  ::syscall(SYS_exit_group, EXIT_FAILURE);
}

std::string check_malloc() {
  if (!is_in_module(::dlsym(RTLD_DEFAULT, "malloc"))) return "";
  return "the program contains malloc, of which each rank would have its own data; link that of AddressSanitizer as a "
         "shared library: -shared-libsan with clang, no -static-libasan with gcc";
}

void report_sanitizer_errors() {
  if (__sanitizer_set_death_callback == nullptr) return;
  __sanitizer_set_death_callback([] {
    RankState* const rank = RankState::entered();
    if (rank != nullptr) rank->fail("had the error that the sanitizer reports");
  });
}

}  // namespace margay::virtual_machine
