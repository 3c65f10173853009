#include "libraries/nexus/modules/udp_frame.hpp"

#include <sodium.h>

#include <cstring>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

static_assert(kUdpTagBytes >= crypto_generichash_BYTES_MIN);

constexpr std::uint32_t kUdpMagic = 0x64676d6e;  // "nmgd"
constexpr std::uint8_t kUdpVersion = 1;
constexpr std::size_t kTagAt = kUdpHeaderBytes - kUdpTagBytes;
// The counts of an answer: delivered, dropped, lost.
constexpr std::size_t kUdpAnswerBytes = 24;

using UdpTag = std::array<std::byte, kUdpTagBytes>;

// BLAKE2b of all bytes but the tag's.
UdpTag udp_tag(std::span<const std::byte> datagram, const ModuleKey& key) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(key.data()), key.size(), kUdpTagBytes);
  crypto_generichash_update(&state, raw(datagram.data()), kTagAt);
  crypto_generichash_update(&state, raw(datagram.data() + kUdpHeaderBytes), datagram.size() - kUdpHeaderBytes);
  UdpTag tag{};
  crypto_generichash_final(&state, raw(tag.data()), tag.size());
  return tag;
}

// Whether the lengths and indices of a frame agree.
bool udp_fields_agree(const UdpFrame& frame) {
  if (frame.number >> 63 != 0) return false;  // so that sums of numbers never overflow
  if (frame.kind != UdpKind::data) {
    const std::size_t bytes = frame.kind == UdpKind::total ? 0 : kUdpAnswerBytes;
    return frame.part == 0 && frame.parts == 1 && frame.message_bytes == bytes && frame.part_bytes.size() == bytes;
  }
  if (frame.message_bytes > kUdpMessageMost || frame.parts != udp_parts(frame.message_bytes)) return false;
  if (frame.part >= frame.parts) return false;
  const std::size_t rest = frame.message_bytes - udp_part_begin(frame.part);
  return frame.part_bytes.size() == (rest < kUdpPartMost ? rest : kUdpPartMost);
}

}  // namespace

std::size_t encode_udp(const UdpFrame& frame, const ModuleKey& key, std::array<std::byte, kUdpFrameMost>& out) {
  std::byte* const at = out.data();
  put_number(at, kUdpMagic);
  put_number(at + 4, kUdpVersion);
  put_number(at + 5, static_cast<std::uint8_t>(frame.kind));
  put_number(at + 6, frame.part);
  put_number(at + 8, frame.parts);
  put_number(at + 10, std::uint16_t{0});
  put_number(at + 12, frame.from);
  put_number(at + 16, frame.to);
  put_number(at + 20, frame.message_bytes);
  put_number(at + 24, frame.number);
  put_number(at + 32, frame.from_session);
  put_number(at + 40, frame.to_session);
  if (!frame.part_bytes.empty()) {
    std::memcpy(at + kUdpHeaderBytes, frame.part_bytes.data(), frame.part_bytes.size());
  }
  const std::size_t bytes = kUdpHeaderBytes + frame.part_bytes.size();
  const UdpTag tag = udp_tag({at, bytes}, key);
  std::memcpy(at + kTagAt, tag.data(), tag.size());
  return bytes;
}

std::optional<UdpFrame> decode_udp(std::span<const std::byte> datagram) {
  if (datagram.size() < kUdpHeaderBytes || datagram.size() > kUdpFrameMost) return std::nullopt;
  const std::byte* const at = datagram.data();
  if (number_at<std::uint32_t>(at) != kUdpMagic || number_at<std::uint8_t>(at + 4) != kUdpVersion) return std::nullopt;
  const auto kind = number_at<std::uint8_t>(at + 5);
  if (kind < 1 || kind > 3 || number_at<std::uint16_t>(at + 10) != 0) return std::nullopt;
  UdpFrame frame;
  frame.kind = static_cast<UdpKind>(kind);
  frame.part = number_at<std::uint16_t>(at + 6);
  frame.parts = number_at<std::uint16_t>(at + 8);
  frame.from = number_at<std::uint32_t>(at + 12);
  frame.to = number_at<std::uint32_t>(at + 16);
  frame.message_bytes = number_at<std::uint32_t>(at + 20);
  frame.number = number_at<std::uint64_t>(at + 24);
  frame.from_session = number_at<std::uint64_t>(at + 32);
  frame.to_session = number_at<std::uint64_t>(at + 40);
  frame.part_bytes = datagram.subspan(kUdpHeaderBytes);
  if (!udp_fields_agree(frame)) return std::nullopt;
  return frame;
}

bool verify_udp(std::span<const std::byte> datagram, const ModuleKey& key) {
  const UdpTag tag = udp_tag(datagram, key);
  return sodium_memcmp(tag.data(), datagram.data() + kTagAt, tag.size()) == 0;
}

}  // namespace margay::nexus::core
