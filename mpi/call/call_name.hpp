// The name of an MPI function, where its calls want it.
#pragma once

#include <cstddef>

namespace margay::mpi {

// A function's name, and as much of it as fits the board's 32 bytes with a zero at their end (two names of MPI's are
// one letter too long), so that noting the call in progress is one copy of two words.
struct CallName {
  static constexpr std::size_t kBoardBytes = 32;
  alignas(kBoardBytes) char board[kBoardBytes] = {};
  char text[2 * kBoardBytes] = {};
  template <std::size_t N>
  consteval CallName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor): a literal is what is meant
    static_assert(N <= sizeof text);
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
    for (std::size_t i = 0; i + 1 < kBoardBytes; ++i) board[i] = text[i];
  }
};

// call_name<"MPI_Send"> lives as long as the program.
template <CallName Name>
inline constexpr CallName call_name = Name;

// One call of a function, as the binding makes it of its name: where it returns to is the program's line, for a trace.
// A function that is the whole of several bindings takes it in place of the name, so that it is made in the binding.
struct Invocation {
  // NOLINTNEXTLINE(google-explicit-constructor): the name is what bindings write.
  Invocation(const CallName& called, const void* returns_to = __builtin_return_address(0))
      : name(called), caller(returns_to) {}
  operator const CallName&() const {
    return name;
  }  // NOLINT(google-explicit-constructor): it is a name with more to it

  const CallName& name;
  const void* caller;
};

}  // namespace margay::mpi
