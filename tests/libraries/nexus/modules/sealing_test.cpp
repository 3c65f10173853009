// Tests of sealed bodies: lengths, each changed bit, replays, other keys and headers.
#include "libraries/nexus/modules/sealing.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::Sealer;
using core::Unsealer;
using SealedPieces = std::vector<std::span<const std::byte>>;

static const core::ModuleKey kKey{std::byte{7}};

static std::vector<std::byte> sealed(Sealer& sealer, std::span<const std::byte> header,
                                     std::span<const std::byte> plain) {
  std::vector<std::byte> out;
  sealer.seal(header, SealedPieces{plain}, out);
  return out;
}

TEST_CASE("bodies of each length around a chunk are opened") {
  Sealer sealer(kKey);
  Unsealer unsealer(kKey);
  const std::vector<std::byte> header = pattern(12);
  std::vector<std::byte> out;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, core::kSealedChunk - 1, core::kSealedChunk,
                                  core::kSealedChunk + 1, 3 * core::kSealedChunk}) {
    const std::vector<std::byte> plain = pattern(bytes);
    const std::vector<std::byte> body = sealed(sealer, header, plain);
    CHECK(body.size() == core::sealed_bytes(bytes));
    CHECK(unsealer.unseal(header, body, out) == "");
    CHECK(out == plain);
  }
}

TEST_CASE("a sealed body shows nothing of the plain one, and equal bodies differ") {
  Sealer sealer(kKey);
  const std::vector<std::byte> plain(100, std::byte{'a'});
  const std::vector<std::byte> one = sealed(sealer, {}, plain);
  const std::vector<std::byte> other = sealed(sealer, {}, plain);
  CHECK(std::search_n(one.begin(), one.end(), 8, std::byte{'a'}) == one.end());
  CHECK_FALSE(std::equal(one.begin() + 24, one.end(), other.begin() + 24));
}

TEST_CASE("each changed bit is refused, and later bodies are still opened") {
  Sealer sealer(kKey);
  Unsealer unsealer(kKey);
  const std::vector<std::byte> header = pattern(12);
  const std::vector<std::byte> plain = pattern(20);
  const std::vector<std::byte> body = sealed(sealer, header, plain);
  std::vector<std::byte> out;
  for (std::size_t bit = 0; bit < 8 * body.size(); ++bit) {
    std::vector<std::byte> changed = body;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK(unsealer.unseal(header, changed, out) != "");
    CHECK(out.empty());
  }
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    CHECK(unsealer.unseal(header, std::span(body).first(bytes), out) != "");
  }
  // None of these has used up the number.
  CHECK(unsealer.unseal(header, body, out) == "");
  CHECK(out == plain);
}

TEST_CASE("a replayed body is refused, a late one is not") {
  Sealer sealer(kKey);
  Unsealer unsealer(kKey);
  const std::vector<std::byte> first = sealed(sealer, {}, pattern(5));
  const std::vector<std::byte> second = sealed(sealer, {}, pattern(6));
  std::vector<std::byte> out;
  CHECK(unsealer.unseal({}, second, out) == "");
  CHECK(unsealer.unseal({}, first, out) == "");
  CHECK(unsealer.unseal({}, first, out) != "");
  CHECK(unsealer.unseal({}, second, out) != "");
  CHECK(out.empty());
}

TEST_CASE("another key, another header, a chunk left out and chunks in another order are refused") {
  Sealer sealer(kKey);
  Unsealer unsealer(kKey);
  Unsealer other_key(core::ModuleKey{std::byte{8}});
  const std::vector<std::byte> header = pattern(12);
  const std::vector<std::byte> body = sealed(sealer, header, pattern(3 * core::kSealedChunk));
  std::vector<std::byte> out;
  CHECK(other_key.unseal(header, body, out) != "");
  CHECK(unsealer.unseal(pattern(12, 2), body, out) != "");
  const auto chunk = static_cast<std::ptrdiff_t>(core::kSealedChunk + core::kSealedChunkExtra);
  const auto first = body.begin() + static_cast<std::ptrdiff_t>(core::kSealedHeaderBytes);
  std::vector<std::byte> changed = body;
  changed.erase(changed.end() - chunk, changed.end());
  CHECK(unsealer.unseal(header, changed, out) != "");
  changed.assign(body.begin(), first);
  changed.insert(changed.end(), first + chunk, first + 2 * chunk);
  changed.insert(changed.end(), first, first + chunk);
  changed.insert(changed.end(), first + 2 * chunk, body.end());
  CHECK(unsealer.unseal(header, changed, out) != "");
  CHECK(unsealer.unseal(header, body, out) == "");
}

TEST_CASE("incarnations of a sender have numbers of their own, up to a bound") {
  Unsealer unsealer(kKey);
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < Unsealer::kSessionsMost; ++i) {
    Sealer sealer(kKey);
    CHECK(unsealer.unseal({}, sealed(sealer, {}, pattern(3)), out) == "");
  }
  Sealer sealer(kKey);
  CHECK(unsealer.unseal({}, sealed(sealer, {}, pattern(3)), out) != "");
}

}  // namespace margay::nexus::test
