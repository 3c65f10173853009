// Tests of the module compressed.
#include "libraries/nexus/modules/compressed.hpp"

#include <doctest/doctest.h>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::CompressedModule;

// A byte of the header of zstd.
static constexpr std::size_t kDamaged = core::kCompressedHeaderBytes;

TEST_CASE("compressed: bodies are restored within the limit, and counted") {
  FakeServices services(0, 2);
  CompressedModule module;
  const core::Parameter level{"level", "9"};
  REQUIRE(module.init(services, {&level, 1}).ok());
  std::vector<std::byte> descriptor;
  REQUIRE(module.descriptor(descriptor));
  const core::Target target{1, descriptor};
  CHECK(module.why_not(descriptor, target, 0) == "");
  CHECK(module.why_not(descriptor, {1, {}}, 0) != "");
  std::unique_ptr<core::Object> object;
  REQUIRE(module.open({&target, 1}, object).ok());
  const std::vector<std::byte> plain(10000, std::byte{3});
  const core::Bytes piece(plain);
  std::vector<std::byte> body;
  std::vector<std::byte> out;
  REQUIRE(module.encode(*object, frame_of(plain.size()), {&piece, 1}, body).ok());
  CHECK(body.size() < 200);
  CHECK(module.decode(1, frame_of(plain.size()), body, plain.size(), out).ok());
  CHECK(out == plain);
  CHECK_FALSE(module.decode(1, frame_of(plain.size()), body, plain.size() - 1, out).ok());
  body[kDamaged] ^= std::byte{0xFF};
  CHECK_FALSE(module.decode(1, frame_of(plain.size()), body, plain.size(), out).ok());
  CHECK(statistic(module, "expanded") == 1);
  CHECK(statistic(module, "refused") == 2);
  CHECK(statistic(module, "plain_bytes") == plain.size());
  CHECK(statistic(module, "compressed_bytes") == body.size());
}

TEST_CASE("compressed: levels") {
  CompressedModule module;
  for (const char* valid : {"1", "3", "19"}) CHECK(module.set_parameter({"level", valid}).ok());
  for (const char* invalid : {"0", "20", "-1", "", "3 "}) CHECK_FALSE(module.set_parameter({"level", invalid}).ok());
  CHECK_FALSE(module.set_parameter({"speed", "1"}).ok());
  CHECK(module.parameters().at(0).value == "19");
}

}  // namespace margay::nexus::test
