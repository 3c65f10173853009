// Error classes and codes. A class is an MPI_ERR_ value; a code that a function returns is either the class itself or,
// where the function could say more, class + (serial << 7), whose sentence is kept while it is among the latest.
//
// Classes and codes that a program adds (MPI_Add_error_class, _code) lie above MPI_ERR_LASTCODE, where no code of the
// library's can be.
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

inline constexpr int kErrorClassBits = 7;
inline constexpr int kErrorClassMask = (1 << kErrorClassBits) - 1;
// Serials go from 1 to here and begin again: a code stays below MPI_ERR_LASTCODE.
inline constexpr std::uint32_t kMaxErrorSerial = (1U << 22) - 1;
inline constexpr std::size_t kKeptSentences = 64;
inline constexpr int kFirstAddedCode = MPI_ERR_LASTCODE + 1;

static_assert(MPICH_ERR_LAST_MPIX <= kErrorClassMask && MPI_SUCCESS == 0);
static_assert(((kMaxErrorSerial << kErrorClassBits) | kErrorClassMask) < MPI_ERR_LASTCODE);

// "MPI_ERR_TAG" and its like; empty for a value that is no class.
[[nodiscard]] std::string_view error_class_name(int error_class);
// One sentence on a class, without its name; empty for a value that is no class.
[[nodiscard]] std::string_view error_class_text(int error_class);

// The sentences of one rank's recent errors, and the classes and codes that its program added. Belongs to the rank's
// MPI state, and has a lock of its own: MPI_Error_class and MPI_Error_string come from any thread at any time (MPI 4.0,
// 11.4.1). Never throws but for want of memory.
class ErrorTable {
 public:
  // A code of `error_class` that text_of() explains by `sentence` (which names function, argument and value) until
  // kKeptSentences newer ones were made. A class that is none of the library's is reported as MPI_ERR_OTHER;
  // MPI_SUCCESS stays MPI_SUCCESS, and without a sentence the class is the code.
  [[nodiscard]] int make(int error_class, std::string sentence);

  // The class of any code; MPI_ERR_UNKNOWN for a value that is no code.
  [[nodiscard]] int class_of(int code) const;
  [[nodiscard]] bool is_code(int code) const { return class_of(code) != MPI_ERR_UNKNOWN || code == MPI_ERR_UNKNOWN; }

  // "MPI_ERR_TAG: <the sentence, or the class's text>", shorter than MPI_MAX_ERROR_STRING. For a code that the program
  // added: the string it gave, or an empty one. Requires: is_code(code); any other value is said to be none.
  [[nodiscard]] std::string text_of(int code) const;

  // --- What a program adds. Sequence numbers are never used again. ---

  // A new class, which is a code too.
  [[nodiscard]] int add_class();
  // A new code of `error_class`, predefined or added; MPI_ERR_UNKNOWN if that is no class.
  [[nodiscard]] int add_code(int error_class);
  // False if `code` was not added by the program: predefined texts cannot be changed.
  [[nodiscard]] bool set_text(int code, std::string text);
  // Takes an added class or code away again; its value is not used again. False: it is none of the program's, or a
  // class that codes still belong to.
  [[nodiscard]] bool remove(int code);
  // The value of the attribute MPI_LASTUSEDCODE.
  [[nodiscard]] int last_used_code() const;

 private:
  struct Kept {
    int code = MPI_SUCCESS;
    std::string sentence;
  };
  struct Added {
    int error_class = MPI_ERR_UNKNOWN;
    std::string text;
    std::uint32_t codes = 0;  // of a class: those that belong to it, without itself
  };
  // Both with the lock. nullptr: no code of the program's, or removed.
  [[nodiscard]] const Added* added(int code) const;
  [[nodiscard]] int class_with_lock(int code) const;

  mutable std::mutex mutex_;
  std::array<Kept, kKeptSentences> kept_;
  std::uint32_t serial_ = 0;
  std::unordered_map<int, Added> added_;  // by code
  int last_used_code_ = MPI_ERR_LASTCODE;
};

}  // namespace margay::mpi_adi
