#include "mpi_adi/datatype/external32.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

namespace {

// A multiple of every predefined size, so no element is split between two chunks.
constexpr std::size_t kChunkBytes = 4096;

enum class Change : std::uint8_t {
  swap,      // only the order of the bytes
  sign,      // also a shorter, signed integer
  unsign,    // also a shorter, unsigned integer
  extended,  // the processor's 80-bit long double to the 128-bit format of IEEE
};

// The representation of the numbers in an element. A complex element has two numbers.
struct Form {
  std::uint8_t native = 1;    // bytes in memory
  std::uint8_t external = 1;  // bytes in external32
  Change change = Change::swap;
};

Form form_of(int handle) {
  const auto size = static_cast<std::uint8_t>(basic_size_bytes(handle));
  const auto halves = static_cast<std::uint8_t>(size / 2);
  switch (handle) {
    case MPI_LONG:
      return {size, 4, Change::sign};
    case MPI_UNSIGNED_LONG:
      return {size, 4, Change::unsign};
    case MPI_WCHAR:
      return {size, 2, Change::unsign};
    case MPI_LONG_DOUBLE:
      return {size, 16, Change::extended};
    case MPI_C_LONG_DOUBLE_COMPLEX:
    case MPI_CXX_LONG_DOUBLE_COMPLEX:
      return {halves, 16, Change::extended};
    case MPI_C_FLOAT_COMPLEX:
    case MPI_C_DOUBLE_COMPLEX:
    case MPI_CXX_FLOAT_COMPLEX:
    case MPI_CXX_DOUBLE_COMPLEX:
    case MPI_COMPLEX:
    case MPI_DOUBLE_COMPLEX:
    case MPI_COMPLEX8:
    case MPI_COMPLEX16:
    case MPI_COMPLEX32:
      return {halves, halves, Change::swap};
    default:
      return {size, size, Change::swap};
  }
}

// GCC and Clang support the 128-bit format on this processor, and libgcc converts to it.
using Quad = __float128;
static_assert(sizeof(Quad) == 16 && sizeof(long double) == 16);
// Bytes of a long double; the remaining six are padding, which no assignment sets.
constexpr std::size_t kExtendedBytes = 10;
static_assert(std::numeric_limits<long double>::digits == 64);

void to_external(const Form& form, const std::byte* native, std::byte* external) {
  std::array<std::byte, 16> number;
  std::memcpy(number.data(), native, form.native);
  if (form.change == Change::extended) {
    long double value = 0;
    std::memcpy(&value, native, sizeof value);
    const Quad quad = value;
    std::memcpy(number.data(), &quad, sizeof quad);
  }
  // This processor is little-endian, so the first bytes are the lower ones, which a shorter integer keeps.
  std::reverse_copy(number.begin(), number.begin() + form.external, external);
}

void to_native(const Form& form, const std::byte* external, std::byte* native) {
  std::array<std::byte, 16> number{};
  const bool negative = form.change == Change::sign && (external[0] & std::byte{0x80}) != std::byte{0};
  // Sign extension, because the external integer may be shorter.
  if (negative) number.fill(std::byte{0xff});
  std::reverse_copy(external, external + form.external, number.begin());
  if (form.change == Change::extended) {
    Quad quad = 0;
    std::memcpy(&quad, number.data(), sizeof quad);
    const auto value = static_cast<long double>(quad);
    // Zero padding, so that equal values have equal bytes.
    number.fill(std::byte{0});
    std::memcpy(number.data(), &value, kExtendedBytes);
  }
  std::memcpy(native, number.data(), form.native);
}

// Calls step(form, at, bytes) for each stretch of at most kChunkBytes of packed elements with one form.
template <typename Step>
void for_each_stretch(const TypeDefinition& type, std::uint64_t count, Step&& step) {
  const std::uint64_t total = type.size * count;
  if (total == 0) return;
  const ElementsLayout kinds(type.signature, static_cast<std::int64_t>(type.size));
  LayoutWalker walker(*kinds.root().node, 0, 0);
  for (std::uint64_t at = 0; at < total;) {
    const Strip run = walker.take(std::min<std::uint64_t>(kChunkBytes, total - at));
    step(form_of(run.leaf), at, static_cast<std::size_t>(run.bytes));
    at += run.bytes;
  }
}

}  // namespace

std::uint64_t external32_basic_size(int handle) {
  const Form form = form_of(handle);
  // Markers and unknown handles have size 0, by which a division would trap.
  return form.native == 0 ? 0 : basic_size_bytes(handle) / form.native * form.external;
}

void pack_external32(const TypeDefinition& type, const void* buffer, std::uint64_t count, std::byte* external) {
  const auto* const base = static_cast<const std::byte*>(buffer);
  std::array<std::byte, kChunkBytes> packed;
  for_each_stretch(type, count, [&](const Form& form, std::uint64_t at, std::size_t bytes) {
    type.in_a_row->gather(base, at, std::span(packed).first(bytes));
    for (std::size_t i = 0; i < bytes; i += form.native, external += form.external)
      to_external(form, &packed[i], external);
  });
}

void unpack_external32(const TypeDefinition& type, void* buffer, std::uint64_t count, const std::byte* external) {
  auto* const base = static_cast<std::byte*>(buffer);
  std::array<std::byte, kChunkBytes> packed;
  for_each_stretch(type, count, [&](const Form& form, std::uint64_t at, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += form.native, external += form.external)
      to_native(form, external, &packed[i]);
    type.in_a_row->scatter(base, at, std::span(packed).first(bytes));
  });
}

}  // namespace margay::mpi_adi
