// Stacks as text: frames, folded where the library's begin, merged where they are equal. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margay::command {

struct Frame {
  std::string function;  // without its parameters; empty: not known
  std::string place;     // "heat.c:41"; empty: not known
  std::string module;    // name of its file, without folders
};
// Outermost first.
using Stack = std::vector<Frame>;

// Whether a frame is margay's.
[[nodiscard]] bool is_library(const Frame& frame);
// Whether the stack has a frame of the program's own: neither margay's nor the system's.
[[nodiscard]] bool has_program(const Stack& stack);
// Whether the outermost frame of the library lacks the name of an MPI function: a binding that ends with its call
// leaves no frame.
[[nodiscard]] bool is_unnamed_call(const Stack& stack);

// Without what stands before main, or a thread's function; without what stands below a call of the library's or the
// system's, but for functions of the program that it calls. `call`: that the process is in, of a stack whose own frames
// do not say; empty: not known.
[[nodiscard]] Stack folded(const Stack& stack, const std::string& call);

// A function's name by its symbol: one of C++ readable, without its parameters; printable.
[[nodiscard]] std::string function_name(const std::string& symbol);
// "main (heat.c:41)"
[[nodiscard]] std::string text_of(const Frame& frame);

// Whose stack: a rank's main thread, or another one of it.
struct StackOf {
  std::uint32_t rank = 0;
  bool main_thread = true;
  Stack stack;
};
// "0-2,5"; sorted, each once.
[[nodiscard]] std::string ranges(std::vector<std::uint32_t> numbers);
// That ranks of a job, at least one, have no process that is known, and what helps.
[[nodiscard]] std::string words_of_not_begun(const std::vector<std::uint32_t>& ranks);
// One text for all stacks that are equal, those of most ranks first. "ranks 0-2,5: main (heat.c:41) > MPI_Recv"; a
// frame on each line with `long_form`.
[[nodiscard]] std::vector<std::string> merged(const std::vector<StackOf>& stacks, bool long_form);

}  // namespace margay::command
