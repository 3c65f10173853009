// Programs that were compiled with a sanitizer. AddressSanitizer and UndefinedBehaviorSanitizer work in simulated
// programs if the process has their run-time library as a shared library, of which all ranks use the data.
#pragma once

#include <string>

namespace margay::virtual_machine {

// Ends the process with an error message if the program was compiled with ThreadSanitizer. Allocates no memory, because
// its run-time library in the program is not initialized at the first constructor.
void refuse_thread_sanitizer();

// The error message if the program, or a library of its own, replaces malloc, as a static run-time library of
// AddressSanitizer does; otherwise empty. Requires: the modules are known.
[[nodiscard]] std::string check_malloc();

// Ends the simulation as an error of the rank whose program has an error that a sanitizer reports.
void report_sanitizer_errors();

}  // namespace margay::virtual_machine
