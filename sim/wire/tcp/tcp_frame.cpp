#include "sim/wire/tcp/tcp_frame.hpp"

#include <bit>
#include <cstring>

#include "sim/wire/tcp/crc32c.hpp"

namespace margay::sim {
namespace {

static_assert(std::endian::native == std::endian::little, "prefixes are little-endian and written as they lie");

void put_u32(std::byte* at, std::uint32_t value) {
  std::memcpy(at, &value, sizeof value);
}

std::uint32_t get_u32(const std::byte* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t own_crc(const std::byte* prefix) {
  return crc32c(std::span<const std::byte>(prefix + 4, kPrefixBytes - 4));
}

}  // namespace

void write_prefix(const FramePrefix& prefix, std::byte* out) {
  put_u32(out + 4, prefix.crc);
  put_u32(out + 8, prefix.content_bytes);
  put_u32(out + 12, prefix.head_bytes);
  // The prefix's checksum is written last, because it covers the other three fields.
  put_u32(out, own_crc(out));
}

std::string_view read_prefix(const std::byte* in, FramePrefix& prefix) {
  // The checksum is compared before any length is used.
  if (get_u32(in) != own_crc(in)) return "a frame prefix is damaged (CRC32C)";
  prefix.crc = get_u32(in + 4);
  prefix.content_bytes = get_u32(in + 8);
  prefix.head_bytes = get_u32(in + 12);
  if (prefix.content_bytes > kSegmentBytes) return "it sent a frame that is longer than the limit";
  if (prefix.head_bytes < kFrameHeadMinBytes || prefix.head_bytes > kFrameHeadMaxBytes) {
    return "it sent a frame head of an invalid length";
  }
  return {};
}

}  // namespace margay::sim
