// Tests of compressed bodies: lengths, contents, damaged and lying ones.
#include "libraries/nexus/modules/compression.hpp"

#include <doctest/doctest.h>
#include <zstd.h>

#include "libraries/nexus/modules/bytes.hpp"
#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::Compression;
using core::kCompressedHeaderBytes;
using Pieces = std::vector<std::span<const std::byte>>;

static std::vector<std::byte> compressed(Compression& compression, std::span<const std::byte> plain) {
  std::vector<std::byte> out;
  CHECK(compression.compress(Pieces{plain}, core::kLevelUsual, out) == "");
  return out;
}

// A body with any header.
static std::vector<std::byte> body_with(std::uint8_t form, std::uint64_t plain_bytes, std::span<const std::byte> rest) {
  std::vector<std::byte> body(kCompressedHeaderBytes);
  core::put_number(body.data(), std::uint8_t{'Z'});
  core::put_number(body.data() + 1, form);
  core::put_number(body.data() + 4, plain_bytes);
  body.insert(body.end(), rest.begin(), rest.end());
  return body;
}

TEST_CASE("bodies of each length and content are restored") {
  Compression compression;
  std::vector<std::byte> out;
  for (const std::size_t bytes : {0U, 1U, 127U, 128U, 5000U, 300000U}) {
    const std::vector<std::byte> noise = pattern(bytes);
    const std::vector<std::byte> zeros(bytes);
    for (const auto& plain : {noise, zeros}) {
      const std::vector<std::byte> body = compressed(compression, plain);
      CHECK(compression.expand(body, bytes, out) == "");
      CHECK(out == plain);
      // Noise grows by the header only.
      CHECK(body.size() <= kCompressedHeaderBytes + bytes);
    }
    if (bytes >= 5000) CHECK(compressed(compression, zeros).size() < bytes / 50);
  }
}

TEST_CASE("pieces are compressed as one body") {
  Compression compression;
  const std::vector<std::byte> plain = pattern(1000);
  const std::span<const std::byte> all(plain);
  std::vector<std::byte> body;
  std::vector<std::byte> out;
  CHECK(compression.compress(Pieces{all.first(1), {}, all.subspan(1)}, 1, body) == "");
  CHECK(compression.expand(body, 1000, out) == "");
  CHECK(out == plain);
}

TEST_CASE("a body beyond the accepted length is refused before it is expanded") {
  Compression compression;
  std::vector<std::byte> out;
  const std::vector<std::byte> body = compressed(compression, std::vector<std::byte>(100000));
  CHECK(compression.expand(body, 99999, out) != "");
  CHECK(out.empty());
  CHECK(compression.expand(body, 100000, out) == "");
}

TEST_CASE("headers whose lengths lie are refused") {
  Compression compression;
  std::vector<std::byte> zstd(200);
  const std::vector<std::byte> zeros(1 << 20);
  zstd.resize(ZSTD_compressBound(zeros.size()));
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), zeros.data(), zeros.size(), 3));
  std::vector<std::byte> out;
  const std::uint64_t most = core::kPlainMost;
  REQUIRE(compression.expand(body_with(1, zeros.size(), zstd), most, out) == "");
  // One byte too few and too many; more than zstd can make of so few bytes; more than any body has.
  for (const std::uint64_t claimed : {std::uint64_t{0}, zeros.size() - 1, zeros.size() + 1,
                                      zstd.size() * core::kExpansionMost + 1, most + 1, ~std::uint64_t{0}}) {
    CHECK(compression.expand(body_with(1, claimed, zstd), most, out) != "");
    CHECK(out.empty());
  }
  CHECK(out.capacity() < 2 * zeros.size());
  // The plain form.
  CHECK(compression.expand(body_with(0, 5, pattern(5)), most, out) == "");
  CHECK(compression.expand(body_with(0, 6, pattern(5)), most, out) != "");
  CHECK(compression.expand(body_with(0, 4, pattern(5)), most, out) != "");
}

TEST_CASE("a bomb is refused: many bytes of zstd behind a small length") {
  Compression compression;
  const std::vector<std::byte> zeros(std::size_t{64} << 20);
  std::vector<std::byte> zstd(ZSTD_compressBound(zeros.size()));
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), zeros.data(), zeros.size(), 19));
  std::vector<std::byte> out;
  CHECK(compression.expand(body_with(1, 100, zstd), core::kPlainMost, out) != "");
  CHECK(out.capacity() < 4096);
}

TEST_CASE("each damaged header and cut body is refused or restores the body") {
  Compression compression;
  std::vector<std::byte> plain(2000);
  plain[77] = std::byte{1};
  const std::vector<std::byte> body = compressed(compression, plain);
  std::vector<std::byte> out;
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    CHECK(compression.expand(std::span(body).first(bytes), 4000, out) != "");
  }
  for (std::size_t bit = 0; bit < 8 * kCompressedHeaderBytes; ++bit) {
    std::vector<std::byte> changed = body;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK(compression.expand(changed, 4000, out) != "");
  }
  CHECK(compression.expand(body, 4000, out) == "");
}

}  // namespace margay::nexus::test
