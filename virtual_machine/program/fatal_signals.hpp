// The handler of the signals by which an error of a program ends its process, such as SIGSEGV.
#pragma once

namespace margay::virtual_machine {

// Installs the handler, which passes "rank 3 died of SIGSEGV (Segmentation fault)" to Hooks::fail. A signal while no
// rank is entered, or a second one, ends the process.
void report_fatal_signals();

}  // namespace margay::virtual_machine
