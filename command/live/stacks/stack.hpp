// Stacks as text: folded at the library's frames, and merged where they are equal. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margay::command {

// A frame with its names.
struct Frame {
  // Without parameters; empty: not known.
  std::string function;
  // "heat.c:41"; empty: not known.
  std::string location;
  // File name without folders.
  std::string module;
};
// Outermost first.
using Stack = std::vector<Frame>;

// Whether a frame belongs to margay's library.
[[nodiscard]] bool is_library(const Frame& frame);
// Whether the stack has a frame of the program's own: neither margay's nor the system's.
[[nodiscard]] bool has_program(const Stack& stack);
// Whether the stack shows a call of the library without its MPI function: the outermost frame of the library is another
// function. A binding that ends with a tail call leaves no frame.
[[nodiscard]] bool is_unnamed_call(const Stack& stack);

// A stack without the frames before main (or a thread's function), and without the frames inside a call of the library
// or the system. Frames of the program's callbacks inside such a call remain. `call`: the MPI call in progress, for a
// stack whose own frames lack it; empty: not known.
[[nodiscard]] Stack fold(const Stack& stack, const std::string& call);

// A readable function name for a symbol: C++ names demangled and without parameters; printable.
[[nodiscard]] std::string function_name(const std::string& symbol);
// A frame as text: "main (heat.c:41)".
[[nodiscard]] std::string format_frame(const Frame& frame);

// A stack with its owner: a rank's main thread, or another one.
struct StackOf {
  std::uint32_t rank = 0;
  bool main_thread = true;
  Stack stack;
};
// Numbers as ranges, "0-2,5": sorted, without duplicates.
[[nodiscard]] std::string ranges(std::vector<std::uint32_t> numbers);
// A sentence on ranks (at least one) without a known process, with the cure.
[[nodiscard]] std::string not_begun_text(const std::vector<std::uint32_t>& ranks);
// One text for each set of equal stacks, main threads first, then sets with the most ranks first: "ranks 0-2,5: main
// (heat.c:41) > MPI_Recv"; with `long_form`, one frame on each line.
[[nodiscard]] std::vector<std::string> merged(const std::vector<StackOf>& stacks, bool long_form);

}  // namespace margay::command
