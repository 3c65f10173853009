// Tests of the module secure between two contexts.
#include "libraries/nexus/modules/secure.hpp"

#include <doctest/doctest.h>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::SecureModule;

struct SecureContext {
  explicit SecureContext(std::uint32_t context, std::uint64_t job = 77) : services(context, 3, job) {
    REQUIRE(module.init(services, {}).ok());
    REQUIRE(module.descriptor(descriptor));
  }
  std::vector<std::byte> seal(std::uint32_t to, const core::Frame& frame, const std::vector<std::byte>& body) {
    const core::Target target{to, descriptor};
    std::unique_ptr<core::Object> object;
    REQUIRE(module.open({&target, 1}, object).ok());
    const core::Bytes piece(body);
    std::vector<std::byte> sealed;
    REQUIRE(module.encode(*object, frame, {&piece, 1}, sealed).ok());
    return sealed;
  }
  bool opens(std::uint32_t from, const core::Frame& frame, const std::vector<std::byte>& body,
             std::uint64_t limit = 1 << 20) {
    const portals::Status status = module.decode(from, frame, body, limit, out);
    // The reason names the module and the sender.
    if (!status.ok()) CHECK(status.sentence().find("context " + std::to_string(from)) != std::string::npos);
    return status.ok();
  }
  FakeServices services;
  SecureModule module;
  std::vector<std::byte> descriptor;
  std::vector<std::byte> out;
};

TEST_CASE("secure: a body reaches its context only, once, with its endpoint and handler") {
  SecureContext a(0);
  SecureContext b(1);
  SecureContext c(2);
  const std::vector<std::byte> plain = pattern(100);
  const core::Frame frame = frame_of(100);
  const std::vector<std::byte> body = a.seal(1, frame, plain);
  CHECK_FALSE(c.opens(0, frame, body));
  CHECK_FALSE(b.opens(2, frame, body));
  CHECK_FALSE(b.opens(0, frame_of(100, 6), body));
  core::Frame other_handler = frame;
  other_handler.handler ^= 1;
  CHECK_FALSE(b.opens(0, other_handler, body));
  // Fields that the way changes are not authenticated.
  core::Frame on_the_way = frame;
  on_the_way.flags = core::kIsPacked;
  on_the_way.body_bytes = body.size();
  CHECK(b.opens(0, on_the_way, body));
  CHECK(b.out == plain);
  CHECK_FALSE(b.opens(0, frame, body));
  // Nor returned to its sender.
  CHECK_FALSE(a.opens(1, frame, body));
  CHECK(statistic(a.module, "sealed") == 1);
  CHECK(statistic(b.module, "opened") == 1);
  CHECK(statistic(b.module, "refused") == 4);
}

TEST_CASE("secure: another job's bodies, bodies beyond the limit and unknown senders are refused") {
  SecureContext a(0);
  SecureContext b(1);
  SecureContext stranger(0, 78);
  const core::Frame frame = frame_of(100);
  CHECK_FALSE(b.opens(0, frame, stranger.seal(1, frame, pattern(100))));
  const std::vector<std::byte> body = a.seal(1, frame, pattern(100));
  CHECK_FALSE(b.opens(0, frame, body, 99));
  CHECK_FALSE(b.opens(3, frame, body));
  CHECK(b.opens(0, frame, body, 100));
  CHECK(b.opens(0, frame, a.seal(1, frame, {}), ~std::uint64_t{0}));
}

TEST_CASE("secure: applicability, parameters, a job without a secret") {
  SecureContext a(0);
  CHECK(a.module.why_not(a.descriptor, {1, a.descriptor}, MARGAY_NEXUS_CONFIDENTIAL) == "");
  CHECK(a.module.why_not(a.descriptor, {1, {}}, 0) != "");
  CHECK(a.module.why_not(a.descriptor, {3, a.descriptor}, 0) != "");
  CHECK(a.module.traits().has(MARGAY_NEXUS_TRANSFORM));
  CHECK(a.module.traits().has(MARGAY_NEXUS_SECURE));
  FakeServices services(0, 2);
  const core::Parameter unknown{"level", "1"};
  SecureModule module;
  CHECK_FALSE(module.init(services, {&unknown, 1}).ok());
  services.has_secret = false;
  CHECK_FALSE(module.init(services, {}).ok());
}

}  // namespace margay::nexus::test
