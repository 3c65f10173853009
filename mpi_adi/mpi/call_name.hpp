// The name of an MPI function, where its calls want it.
#pragma once

#include <cstddef>

namespace margay::mpi_adi {

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

}  // namespace margay::mpi_adi
