// The handler of signals that end a process by default after an error of the program (SIGSEGV and its kind).
#pragma once

namespace margay::virtual_machine {

// Installs it: "rank 3 died of SIGSEGV (Segmentation fault)" to Hooks::fail, if a rank is entered. A second signal in
// the meantime ends the process.
void report_fatal_signals();

}  // namespace margay::virtual_machine
