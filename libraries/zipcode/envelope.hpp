// The bytes of a letter (paper 000, figure 1). All shorts are 16 bits in the byte order of the machine:
//
//   0  zipcode    the context_id
//   2  class      length and meaning of the PO Box
//   4  stamp      the length of the envelope, a multiple of 16
//   6  PO Box     of the class
//   .  padding    zeros
//   stamp - 2     return postage, which equals the stamp
//   stamp         the body
//
// The layer below carries the length, as in the paper (footnote 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace margay::zipcode::core {

inline constexpr std::size_t kBoxAt = 6;
// Bodies are aligned for any type.
inline constexpr std::size_t kBodyAlignment = 16;
static_assert(kBodyAlignment >= alignof(std::max_align_t));

[[nodiscard]] constexpr std::uint16_t stamp_of(std::size_t box_bytes) {
  const std::size_t bytes = kBoxAt + box_bytes + sizeof(std::uint16_t);
  return static_cast<std::uint16_t>((bytes + kBodyAlignment - 1) / kBodyAlignment * kBodyAlignment);
}

using Bytes = std::span<const std::byte>;

[[nodiscard]] inline std::uint16_t short_at(const std::byte* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Writes an envelope with an empty PO Box.
inline void write_envelope(std::byte* at, std::uint16_t context, std::uint16_t mail_class, std::uint16_t stamp) {
  std::memset(at, 0, stamp);
  std::memcpy(at, &context, sizeof context);
  std::memcpy(at + 2, &mail_class, sizeof mail_class);
  std::memcpy(at + 4, &stamp, sizeof stamp);
  std::memcpy(at + stamp - 2, &stamp, sizeof stamp);
}

// The error in the envelope of a letter of this context and class; empty: none. `letter`: from the envelope on, as it
// arrived.
[[nodiscard]] inline std::string envelope_error(Bytes letter, std::uint16_t context, std::uint16_t mail_class,
                                                std::size_t box_bytes) {
  const std::uint16_t stamp = stamp_of(box_bytes);
  if (letter.size() < stamp) return "it is shorter than its envelope";
  if (short_at(letter.data()) != context) return "its zipcode is " + std::to_string(short_at(letter.data()));
  if (short_at(letter.data() + 2) != mail_class) return "its class is " + std::to_string(short_at(letter.data() + 2));
  if (short_at(letter.data() + 4) != stamp) return "its stamp is " + std::to_string(short_at(letter.data() + 4));
  if (short_at(letter.data() + stamp - 2) != stamp)
    return "its return postage is " + std::to_string(short_at(letter.data() + stamp - 2));
  return {};
}

[[nodiscard]] inline Bytes box_of(const std::byte* envelope, std::size_t box_bytes) {
  return {envelope + kBoxAt, box_bytes};
}

// The 32 match bits of a PO Box: its bytes, or their hash (FNV-1a) if there are more than four.
[[nodiscard]] inline std::uint32_t bits_of(Bytes box) {
  std::uint32_t bits = 0;
  if (box.size() <= sizeof bits) {
    if (!box.empty()) std::memcpy(&bits, box.data(), box.size());
    return bits;
  }
  bits = 2166136261U;
  for (const std::byte each : box) bits = (bits ^ static_cast<std::uint32_t>(each)) * 16777619U;
  return bits;
}

}  // namespace margay::zipcode::core
