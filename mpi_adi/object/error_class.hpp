// Error classes and codes. A class is an MPI_ERR_ value. A function returns the class itself as its code, or, if there
// is a message about the error, class + (serial << 7). The latest messages are kept.
//
// Classes and codes that a program adds (MPI_Add_error_class, _code) are above MPI_ERR_LASTCODE, and all codes of the
// library are below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// A code has the class in these low bits, and the serial number above.
inline constexpr int kErrorClassBits = 7;
inline constexpr int kErrorClassMask = (1 << kErrorClassBits) - 1;
// Serials go from 1 to this number and start again, so that every code stays below MPI_ERR_LASTCODE.
inline constexpr std::uint32_t kMaxErrorSerial = (1U << 22) - 1;
// The number of messages that are kept, in a ring: a new message replaces the oldest one.
inline constexpr std::size_t kKeptSentences = 64;
// The first number that MPI_Add_error_class and MPI_Add_error_code give out.
inline constexpr int kFirstAddedCode = MPI_ERR_LASTCODE + 1;

static_assert(MPICH_ERR_LAST_MPIX <= kErrorClassMask && MPI_SUCCESS == 0);
static_assert(((kMaxErrorSerial << kErrorClassBits) | kErrorClassMask) < MPI_ERR_LASTCODE);

// The name of a class, such as "MPI_ERR_TAG"; empty for any other value.
[[nodiscard]] std::string_view error_class_name(int error_class);
// A sentence about a class, without its name; empty for any other value.
[[nodiscard]] std::string_view error_class_text(int error_class);

// The messages of one rank's recent errors, and the classes and codes that its program added. It has a lock of its own,
// because MPI_Error_class and MPI_Error_string may be called by any thread at any time (MPI 4.0, 11.4.1). Throws
// std::bad_alloc only.
class ErrorTable {
 public:
  // Makes a code of `error_class`. text_of() explains the code by `sentence` (function, argument and value) until
  // kKeptSentences newer codes are made. A class that is not the library's becomes MPI_ERR_OTHER. MPI_SUCCESS stays
  // MPI_SUCCESS. If `sentence` is empty, the class itself is the code.
  [[nodiscard]] int make(int error_class, std::string sentence);

  // The class of a code; MPI_ERR_UNKNOWN for an invalid code.
  [[nodiscard]] int class_of(int code) const;
  [[nodiscard]] bool is_code(int code) const { return class_of(code) != MPI_ERR_UNKNOWN || code == MPI_ERR_UNKNOWN; }

  // "MPI_ERR_TAG: <the message, or the class's text>", shorter than MPI_MAX_ERROR_STRING. For a code that the program
  // added, the program's string, which may be empty. An invalid code gives a message that reports it as invalid.
  [[nodiscard]] std::string text_of(int code) const;

  // --- The program's additions. Their numbers are never used again. ---

  // Adds a class, which is also a code.
  [[nodiscard]] int add_class();
  // Adds a code to `error_class`, predefined or added; MPI_ERR_UNKNOWN if that is not a class.
  [[nodiscard]] int add_code(int error_class);
  // Sets the string of an added code. False for others: predefined texts cannot change.
  [[nodiscard]] bool set_text(int code, std::string text);
  // Removes an added class or code. False: the program did not add it, or it is a class to which codes still belong.
  [[nodiscard]] bool remove(int code);
  // The value of the attribute MPI_LASTUSEDCODE.
  [[nodiscard]] int last_used_code() const;

 private:
  // A message of make(), found by its code.
  struct Kept {
    int code = MPI_SUCCESS;
    std::string sentence;
  };
  // A class or a code of the program.
  struct Added {
    int error_class = MPI_ERR_UNKNOWN;
    std::string text;
    std::uint32_t codes = 0;  // of a class: the number of its other codes
  };
  // Require mutex_. nullptr: not added, or removed.
  [[nodiscard]] const Added* added(int code) const;
  [[nodiscard]] int class_with_lock(int code) const;

  // Guards all below.
  mutable std::mutex mutex_;
  std::array<Kept, kKeptSentences> kept_;
  std::uint32_t serial_ = 0;
  std::unordered_map<int, Added> added_;  // by code
  int last_used_code_ = MPI_ERR_LASTCODE;
};

}  // namespace margay::mpi_adi
