#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <string_view>
#include <vector>

#include "sim/wire/tcp/crc32c.hpp"

namespace margay::sim {
namespace {

// The definition, one bit at a time.
std::uint32_t by_definition(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  std::uint32_t crc = ~before;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f6'3b78 : 0);
  }
  return ~crc;
}

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_CASE("crc32c: the published check values, by every implementation") {
  // RFC 3720, appendix B.4.
  std::array<std::byte, 32> zeros{}, ones{}, up{}, down{};
  ones.fill(std::byte{0xff});
  for (std::size_t i = 0; i < up.size(); ++i) up[i] = down[up.size() - 1 - i] = static_cast<std::byte>(i);
  std::array<std::byte, 48> read_command{};
  read_command[0] = std::byte{0x01};
  read_command[1] = std::byte{0xc0};
  read_command[16] = read_command[27] = std::byte{0x14};
  read_command[22] = std::byte{0x04};
  read_command[31] = std::byte{0x18};
  read_command[32] = std::byte{0x28};
  read_command[40] = std::byte{0x02};
  const std::string_view digits = "123456789";
  for (const Crc32cMethod& method : crc32c_methods()) {
    CAPTURE(method.name);
    CHECK_EQ(method.sum(std::as_bytes(std::span(digits)), 0), 0xe3069283);
    CHECK_EQ(method.sum(zeros, 0), 0x8a9136aa);
    CHECK_EQ(method.sum(ones, 0), 0x62a8ab43);
    CHECK_EQ(method.sum(up, 0), 0x46dd794e);
    CHECK_EQ(method.sum(down, 0), 0x113fdb5c);
    CHECK_EQ(method.sum(read_command, 0), 0xd9963a56);
    CHECK_EQ(method.sum({}, 0), 0);
  }
  CHECK_EQ(crc32c_methods().back().name, "table");
}

TEST_CASE("crc32c: every implementation agrees with the definition, at every length") {
  const std::vector<std::byte> bytes = random_bytes(1100 + 64, 3);
  for (std::size_t length = 0; length <= 1100; ++length) {
    const std::span<const std::byte> part = std::span(bytes).subspan(length % 67 % 64, length);
    const std::uint32_t before = length % 3 == 0 ? 0 : static_cast<std::uint32_t>(length * 2'654'435'761U);
    const std::uint32_t right = by_definition(part, before);
    for (const Crc32cMethod& method : crc32c_methods()) {
      CAPTURE(method.name);
      CHECK_EQ(method.sum(part, before), right);
    }
    CHECK_EQ(crc32c(part, before), right);
  }
}

TEST_CASE("crc32c: every implementation agrees with the definition, at every alignment") {
  const std::vector<std::byte> bytes = random_bytes(2000, 4);
  for (std::size_t at = 0; at < 64; ++at) {
    for (const std::size_t length : std::initializer_list<std::size_t>{15, 64, 255, 256, 257, 511, 777, 1900}) {
      const std::span<const std::byte> part = std::span(bytes).subspan(at, length);
      const std::uint32_t right = by_definition(part);
      for (const Crc32cMethod& method : crc32c_methods()) {
        CAPTURE(method.name);
        CHECK_EQ(method.sum(part, 0), right);
      }
    }
  }
}

TEST_CASE("crc32c: every implementation agrees on data in parts and on long data") {
  const std::vector<std::byte> bytes = random_bytes(20'000, 5);
  std::mt19937_64 random(6);
  for (int i = 0; i < 100; ++i) {
    const std::size_t begin = random() % 64;
    const std::size_t length = random() % (bytes.size() - begin);
    const std::span<const std::byte> part = std::span(bytes).subspan(begin, length);
    const std::uint32_t right = by_definition(part);
    for (const Crc32cMethod& method : crc32c_methods()) {
      CAPTURE(method.name);
      std::uint32_t crc = 0;
      for (std::size_t at = 0; at < length;) {
        const std::size_t piece = std::min<std::size_t>(1 + random() % 3000, length - at);
        crc = method.sum(part.subspan(at, piece), crc);
        at += piece;
      }
      CHECK_EQ(crc, right);
      CHECK_EQ(method.sum(part, 0), right);
    }
  }
}

TEST_CASE("crc32c: every flipped bit is detected") {
  std::vector<std::byte> bytes(300, std::byte{0x5a});
  const std::uint32_t right = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CHECK_NE(crc32c(bytes), right);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

}  // namespace
}  // namespace margay::sim
