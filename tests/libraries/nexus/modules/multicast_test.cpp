// Tests of the module multicast among three contexts of one process: who gets a message, the law of each receiver.
#include "libraries/nexus/modules/multicast.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::MulticastModule;

// One context of three. The job's number keeps other runs on this machine out of the group.
struct MulticastContext {
  explicit MulticastContext(std::uint32_t context, const std::vector<core::Parameter>& parameters = {},
                            std::uint64_t job = static_cast<std::uint64_t>(getpid()))
      : number(context), services(context, 3, job) {
    REQUIRE(module.init(services, parameters).ok());
    REQUIRE(module.descriptor(descriptor));
  }
  std::unique_ptr<core::Object> open(const std::vector<std::uint32_t>& contexts) {
    std::vector<core::Target> targets;
    for (const std::uint32_t one : contexts) targets.push_back({one, descriptor});
    std::unique_ptr<core::Object> object;
    REQUIRE(module.open(targets, object).ok());
    return object;
  }
  void send(core::Object& object, const std::vector<std::byte>& body) {
    const core::Bytes piece(body);
    std::string why;
    REQUIRE(module.send(object, frame_of(body.size()), {&piece, 1}, why) == core::Sent::taken);
  }
  void drain() {
    std::string why;
    while (module.poll(16, why) > 0) continue;
    CHECK(why == "");
  }
  std::uint32_t number;
  FakeServices services;
  MulticastModule module;
  std::vector<std::byte> descriptor;
};

TEST_CASE("multicast: one send reaches the named contexts, also the sender's own, and no other") {
  MulticastContext a(0);
  MulticastContext b(1);
  MulticastContext c(2);
  CHECK(a.module.why_not(a.descriptor, {1, b.descriptor}, 0) == "");
  const auto all = a.open({0, 1, 2});
  const auto two = a.open({0, 2});
  a.send(*all, pattern(10));
  a.send(*two, pattern(5000));
  CHECK(statistic(a.module, "sent") == 2);
  CHECK(statistic(a.module, "sent_frames") == 1 + 4);
  for (MulticastContext* one : {&a, &b, &c}) one->drain();
  CHECK(a.services.delivered.size() == 2);
  REQUIRE(b.services.delivered.size() == 1);
  CHECK(b.services.delivered[0].source == 0);
  CHECK(b.services.delivered[0].body == pattern(10));
  REQUIRE(c.services.delivered.size() == 2);
  CHECK(c.services.delivered[1].body == pattern(5000));
  CHECK(statistic(b.module, "passed") == 1);
}

TEST_CASE("multicast: sent = delivered + passed + dropped + lost at each receiver") {
  MulticastContext a(0, {{"lose", "5"}, {"damage", "7"}, {"repeat", "3"}});
  MulticastContext b(1);
  MulticastContext c(2);
  const auto both = a.open({1, 2});
  const auto one = a.open({2});
  const std::uint64_t sent = 100;
  for (std::uint64_t i = 0; i < sent; ++i) {
    a.send(i % 4 == 0 ? *one : *both, pattern(i % 2 * 2000));
    b.drain();
    c.drain();
  }
  a.module.finish();
  for (MulticastContext* receiver : {&b, &c}) {
    receiver->drain();
    MulticastModule& module = receiver->module;
    CHECK(statistic(module, "delivered") + statistic(module, "passed") + statistic(module, "dropped") +
              statistic(module, "lost") ==
          sent);
    CHECK(statistic(module, "delivered") == receiver->services.delivered.size());
    CHECK(statistic(module, "lost") > 0);
    CHECK(receiver->services.lost == statistic(module, "lost"));
  }
  CHECK(statistic(b.module, "passed") > 0);
  CHECK(statistic(c.module, "passed") == 0);
}

TEST_CASE("multicast: a job with another secret on the same group is dropped") {
  MulticastContext a(0);
  // The same group and port, but another number: its keys differ.
  const std::uint64_t other = static_cast<std::uint64_t>(getpid()) + (std::uint64_t{10000} << 16);
  MulticastContext stranger(1, {}, other);
  const auto object = stranger.open({0});
  stranger.send(*object, pattern(3));
  a.drain();
  CHECK(a.services.delivered.empty());
  CHECK(statistic(a.module, "unauthenticated") == 1);
  CHECK(a.services.dropped == 1);
  CHECK(a.services.dropped_why.empty());
}

TEST_CASE("multicast: numbers of contexts, confidential content, other groups and invalid parameters") {
  MulticastContext a(0);
  std::unique_ptr<core::Object> object;
  CHECK_FALSE(a.module.open({}, object).ok());
  CHECK_FALSE(a.module.open(std::vector<core::Target>(core::kMulticastMost + 1), object).ok());
  CHECK(a.module.why_not(a.descriptor, {1, a.descriptor}, MARGAY_NEXUS_CONFIDENTIAL) != "");
  CHECK(a.module.why_not(a.descriptor, {3, a.descriptor}, 0) != "");
  std::vector<std::byte> other = a.descriptor;
  other[7] ^= std::byte{1};
  CHECK(a.module.why_not(a.descriptor, {1, other}, 0) != "");
  for (const core::Parameter& one : std::vector<core::Parameter>{
           {"interface", "x"}, {"interface", "192.0.2.1"}, {"lose", "x"}, {"linger_ms", "1"}}) {
    FakeServices services(0, 3);
    MulticastModule module;
    CHECK_FALSE(module.init(services, {&one, 1}).ok());
  }
  FakeServices poor(0, 3);
  poor.has_secret = false;
  MulticastModule module;
  CHECK_FALSE(module.init(poor, {}).ok());
}

}  // namespace margay::nexus::test
