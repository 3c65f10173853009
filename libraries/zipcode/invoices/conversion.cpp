#include "libraries/zipcode/invoices/conversion.hpp"

#include <cstring>
#include <limits>

#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::size_t kXdrUnit = 4;
static_assert(sizeof(int) == 4 && sizeof(long) == 8 && sizeof(float) == 4 && sizeof(double) == 8);

// Copies elements of a fixed size between two strides. `Bytes` is a constant, so that each copy is a move.
template <std::size_t Bytes>
void copy_elements(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, Bytes);
}

void copy_strided(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
                  std::size_t count, std::size_t bytes) {
  if (count == 0) return;
  if (to_stride == bytes && from_stride == bytes) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return copy_elements<1>(to, to_stride, from, from_stride, count);
    case 2:
      return copy_elements<2>(to, to_stride, from, from_stride, count);
    case 4:
      return copy_elements<4>(to, to_stride, from, from_stride, count);
    default:
      return copy_elements<8>(to, to_stride, from, from_stride, count);
  }
}

void store_big_endian(std::uint64_t value, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)));
}

std::uint64_t load_big_endian(const std::byte* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  return value;
}

// The bits of an element, widened to those of its XDR type: a short becomes an int with its sign.
std::uint64_t bits_of(char type, const std::byte* element) {
  if (type == 's') {
    short value = 0;
    std::memcpy(&value, element, sizeof value);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  }
  if (builtin_bytes(type) == 4) {
    std::uint32_t value = 0;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, element, sizeof value);
  return value;
}

std::size_t xdr_bytes(char type) {
  return builtin_bytes(type) == 8 ? 8 : 4;
}

std::string decode_shorts(const std::byte* space, const Elements& to) {
  for (std::size_t i = 0; i < to.count; ++i) {
    const auto wide = static_cast<std::int32_t>(static_cast<std::uint32_t>(load_big_endian(space + i * kXdrUnit, 4)));
    if (wide < std::numeric_limits<short>::min() || wide > std::numeric_limits<short>::max())
      return "element " + std::to_string(i) + " has the value " + std::to_string(wide) + ", which no short can hold";
    const auto value = static_cast<short>(wide);
    std::memcpy(to.data + i * to.stride, &value, sizeof value);
  }
  return {};
}

}  // namespace

std::size_t packed_alignment(char type, Conversion conversion) {
  return conversion == Conversion::xdr ? kXdrUnit : builtin_bytes(type);
}

std::uint64_t packed_bytes(char type, std::uint64_t count, Conversion conversion) {
  if (conversion == Conversion::native) return builtin_bytes(type) * count;
  if (type == 'c') return (count + kXdrUnit - 1) / kXdrUnit * kXdrUnit;
  return xdr_bytes(type) * count;
}

void encode(const Elements& from, Conversion conversion, std::byte* space) {
  const std::size_t bytes = builtin_bytes(from.type);
  if (conversion == Conversion::native || from.type == 'c') {
    copy_strided(space, bytes, from.data, from.stride, from.count, bytes);
    const std::uint64_t all = packed_bytes(from.type, from.count, conversion);
    for (std::uint64_t i = from.count * bytes; i < all; ++i) space[i] = std::byte{0};
    return;
  }
  const std::size_t wide = xdr_bytes(from.type);
  for (std::size_t i = 0; i < from.count; ++i)
    store_big_endian(bits_of(from.type, from.data + i * from.stride), space + i * wide, wide);
}

std::string decode(const std::byte* space, Conversion conversion, const Elements& to) {
  const std::size_t bytes = builtin_bytes(to.type);
  if (conversion == Conversion::native || to.type == 'c') {
    copy_strided(to.data, to.stride, space, bytes, to.count, bytes);
    return {};
  }
  if (to.type == 's') return decode_shorts(space, to);
  for (std::size_t i = 0; i < to.count; ++i) {
    const std::uint64_t bits = load_big_endian(space + i * bytes, bytes);
    const auto half = static_cast<std::uint32_t>(bits);
    const void* const value = bytes == 4 ? static_cast<const void*>(&half) : &bits;
    std::memcpy(to.data + i * to.stride, value, bytes);
  }
  return {};
}

}  // namespace margay::zipcode::core
