#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string_view>
#include <vector>

#include "sim/wire/crc32c.hpp"

namespace margay::sim {
namespace {

TEST_CASE("crc32c: the published check values") {
  const std::string_view digits = "123456789";
  CHECK_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283);
  // RFC 3720, appendix B.4.
  std::array<std::byte, 32> block{};
  CHECK_EQ(crc32c(block), 0x8a9136aa);
  block.fill(std::byte{0xff});
  CHECK_EQ(crc32c(block), 0x62a8ab43);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i);
  CHECK_EQ(crc32c(block), 0x46dd794e);
  CHECK_EQ(crc32c({}), 0);
}

TEST_CASE("crc32c: instruction and table agree, whole and in parts") {
  std::mt19937_64 random(3);
  std::vector<std::byte> bytes(20'000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (int i = 0; i < 400; ++i) {
    const std::size_t begin = random() % 64;
    const std::size_t length = random() % (i % 2 == 0 ? 100 : bytes.size() - begin);
    const std::span<const std::byte> part = std::span(bytes).subspan(begin, length);
    const std::uint32_t whole = crc32c(part);
    CHECK_EQ(whole, crc32c_by_table(part));
    const std::size_t cut = length == 0 ? 0 : random() % length;
    CHECK_EQ(whole, crc32c(part.subspan(cut), crc32c(part.first(cut))));
  }
}

TEST_CASE("crc32c: every flipped bit shows") {
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
