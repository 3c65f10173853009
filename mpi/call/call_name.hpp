// The name of an MPI function, in the forms that its calls need.
#pragma once

#include <cstddef>

namespace margay::mpi {

// A function's name, zero-terminated, and as the job's board has it (sim::kCallNameBytes). Recording the call in
// progress is thus one copy of 32 bytes.
struct CallName {
  // Bytes of a call's name on the job's board, where the launcher reads it if the process dies in the call.
  static constexpr std::size_t kBoardBytes = 32;
  alignas(kBoardBytes) char board[kBoardBytes] = {};
  // The whole name.
  char text[2 * kBoardBytes] = {};
  // Evaluated by the compiler, which rejects a name that does not fit.
  template <std::size_t N>
  consteval CallName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor): a literal is what is meant
    static_assert(N <= sizeof text && N - 1 <= kBoardBytes);
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
    for (std::size_t i = 0; i < kBoardBytes; ++i) board[i] = text[i];
  }
};

// The name as a constant of static lifetime: call_name<"MPI_Send">.
template <CallName Name>
inline constexpr CallName call_name = Name;

// The function of a call, and the location of the call in the program, for traces. A binding converts its name to an
// Invocation implicitly; the default argument is then the address to which the binding returns. A function that is the
// body of several bindings takes an Invocation instead of a name, so that the conversion happens in the binding: in the
// body, the address would lie in the binding and not in the program.
struct Invocation {
  // NOLINTNEXTLINE(google-explicit-constructor): the name is what bindings write.
  Invocation(const CallName& called, const void* returns_to = __builtin_return_address(0))
      : name(called), caller(returns_to) {}
  operator const CallName&() const {
    return name;
  }  // NOLINT(google-explicit-constructor): it is a name with more to it

  // The function's name, of static lifetime.
  const CallName& name;
  // The address in the program to which the call returns. In a Fortran program this address lies in a Fortran binding;
  // the trace then takes the line of the binding's caller.
  const void* caller;
};

}  // namespace margay::mpi
