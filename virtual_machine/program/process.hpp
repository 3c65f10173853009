// The process that runs the ranks: its modules, and the layout of the memory that each rank has for itself. Assembled
// in two steps before main, because a library's data is pristine before the dynamic linker runs constructors, and the
// program's only after those of the system's libraries, which initialize variables that the program has copies of
// (cout).
#pragma once

#include <span>
#include <string>

#include "virtual_machine/program/image.hpp"
#include "virtual_machine/program/module.hpp"

namespace margay::virtual_machine {

// Before all constructors: replaces the standard streams, keeps the pristine data of the program's own libraries, and
// makes the dynamic linker skip the constructors of the program and of these libraries. Each rank runs them.
void prepare_libraries();
// Before main: keeps the pristine data of the program and of libc's variables. Requires: prepare_libraries().
void prepare_program();
// Whether prepare_libraries() was called: the process simulates.
[[nodiscard]] bool is_prepared();

// In the order of their constructors; the program is the last.
[[nodiscard]] std::span<const Module> modules();
// Whether the address is code or data of a module above.
[[nodiscard]] bool is_in_module(const void* address);
[[nodiscard]] ImageLayout& image_layout();

// Ends the simulation, or before its begin the process, with this error message unless it is empty: a rank cannot run
// without its data.
void require_no_error(const std::string& error);

}  // namespace margay::virtual_machine
