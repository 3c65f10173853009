// The representations of built-in types in letters and buffers: the machine's own, or XDR (RFC 4506).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "margay/zipcode_invoices.h"

namespace margay::zipcode::core {

enum class Conversion { native = ZIP_NATIVE, xdr = ZIP_XDR };

// Elements of a built-in type in the memory of the program: one in each `stride` bytes.
struct Elements {
  char type = 'c';
  std::byte* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 1;
};

// The alignment of a packed element, and the bytes of `count` packed ones. XDR pads characters to four bytes.
[[nodiscard]] std::size_t packed_alignment(char type, Conversion conversion);
[[nodiscard]] std::uint64_t packed_bytes(char type, std::uint64_t count, Conversion conversion);

// Writes packed_bytes() to `space`.
void encode(const Elements& from, Conversion conversion, std::byte* space);
// Reads packed_bytes() from `space`. Returns an empty string, or an error for a value that the type cannot hold:
// elements before it are then written.
[[nodiscard]] std::string decode(const std::byte* space, Conversion conversion, const Elements& to);

}  // namespace margay::zipcode::core
