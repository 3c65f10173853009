// Values of variables. Internally each element is one 64-bit word, whatever MPI type the program reads it as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"

namespace margay::mpi {

// Named values of a variable (MPI_T_enum).

// A name, as an option of `margay run` spells it, and the number that the program reads.
struct EnumerationItem {
  const char* name;
  int value;
};

// A list of named values. Constant, valid for the process's lifetime.
struct Enumeration {
  const char* name;
  std::span<const EnumerationItem> items;
};

// The values of tcp_backends(), which are those of the option.
enum class TcpBackendAsked : std::uint8_t { automatic, epoll, uring };

// The enumerations of the variables with named values.
[[nodiscard]] const Enumeration& long_protocols();
[[nodiscard]] const Enumeration& long_methods();
[[nodiscard]] const Enumeration& wait_policies();
[[nodiscard]] const Enumeration& tcp_backends();
[[nodiscard]] const Enumeration& heaps_in_use();

// The program's handle of an enumeration; MPI_T_ENUM_NULL for null. Valid as long as the process, and equal in each
// call.
[[nodiscard]] MPI_T_enum enumeration_handle(const Enumeration* enumeration);
// The enumeration of a handle; null if it is invalid. The handle is a number, which is looked up and never followed.
[[nodiscard]] const Enumeration* find_enumeration(MPI_T_enum handle);

// Whether an item has the value `value`.
[[nodiscard]] bool has_item(const Enumeration& enumeration, int value);

// An element's value; see ValueType for its unit.
using Word = std::uint64_t;

// The type in which the program reads an element, and the element's unit in the word.
enum class ValueType : std::uint8_t {
  // MPI_INT: the value of an enumeration.
  integer,
  // MPI_UNSIGNED_LONG_LONG.
  count,
  // MPI_DOUBLE; the word is nanoseconds.
  seconds,
  // MPI_DOUBLE from 0 to 1; the word is millionths.
  share,
  // MPI_CHAR, zero-terminated; no word.
  text,
};

// The MPI type in which the program reads an element.
[[nodiscard]] MPI_Datatype mpi_type(ValueType type);
// Bytes of one element in the program's buffer.
[[nodiscard]] std::size_t element_bytes(ValueType type);

// Convert one element between a word and the program's buffer, which need not be aligned. A negative double or NaN is
// loaded as 0, and a double that is too large as the largest word. A negative integer is loaded in two's complement,
// which is no value of an enumeration. Requires: type is not text.
void store_word(ValueType type, Word word, void* out);
[[nodiscard]] Word load_word(ValueType type, const void* in);

// Returns a string as MPI 4.0, section 15.3.3, requires: at most *length - 1 characters and a zero, and in *length the
// length of the whole string with its zero. With a null buffer or a *length of 0, only the length is returned; with a
// null `length`, nothing.
void give_text(std::string_view text, char* out, int* length);

// Returns a value, unless the program passed null.
template <typename T, typename V>
void give(T* out, V value) {
  if (out != nullptr) *out = static_cast<T>(value);
}

}  // namespace margay::mpi
